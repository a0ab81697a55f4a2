"""The names that programs use and torch_py lacks: module -> why, and the names, separated by spaces.

Each can be imported, for annotations and `isinstance`; a use raises NotImplementedError with the reason.
`tools.names` says which names are used; a name that comes into being goes from here. A module that is not
a file exists by being in this table.
"""

from __future__ import annotations

CUDA = "torch_py's CUDA support does not have this part"
DEVICES = "this build of torch_py supports CPUs only"
EXPORTED = "torch_py.export does not have this part"
EXTENSIONS = "torch_py builds operators with torch_py.utils.build_operators, not with cpp_extension"
GRAPHS = "torch_py captures, compiles and exports programs without this part of PyTorch"
INTERNAL = "a part of PyTorch's implementation, which torch_py does in another way"
NESTED = "torch_py has no nested tensors; pad, or keep a list of tensors"
ONNX = "torch_py.onnx.export writes models by itself and does not call symbolic functions"
PIPES = "torch_py has Dataset, IterableDataset and samplers, but no DataPipes"
PROCESSES = "torch_py has worlds of one process only"
PROFILER = "torch_py's profiler does not have this part"
QUANTIZED = "torch_py does not quantise models"
SCRIPTED = "torch_py.jit runs scripted code as Python, without compiling it"
SPARSE = "torch_py has dense (strided) tensors only"

LACKING: dict[str, tuple[tuple[str, str], ...]] = {
    "": (
        (
            GRAPHS,
            "FileCheck Graph Node PyTorchFileWriter ScriptMethod ScriptObject Value "
            "_TorchCompileInductorWrapper _disable_dynamo cond",
        ),
        (INTERNAL, "_as_tensor_fullprec _has_compatible_shallow_copy_type _storage_classes"),
        (NESTED, "_nested_compute_contiguous_strides_offsets _nested_view_from_buffer jagged"),
        (QUANTIZED, "_empty_affine_quantized empty_quantized per_channel_symmetric"),
    ),
    "_C": (
        (
            GRAPHS,
            "_get_graph_executor_optimize _jit_flatten _jit_get_operation _jit_pass_canonicalize "
            "_jit_pass_inline _jit_pass_lint _jit_set_nvfuser_guard_mode "
            "_jit_set_nvfuser_horizontal_mode parse_ir parse_schema",
        ),
        (
            CUDA,
            "_accelerator_getAllocatorSettings _cuda_beginAllocateCurrentThreadToPool "
            "_cuda_endAllocateToPool _get_cudnn_enabled",
        ),
        (
            INTERNAL,
            "_DisableFuncTorch _DisableTorchDispatch _current_autograd_node "
            "_debug_only_display_vmap_fallback_warnings _dispatch_call_boxed "
            "_dispatch_find_schema_or_throw _dispatch_has_kernel_for_dispatch_key _dispatch_pystub "
            "_parallel_info _set_math_sdp_allow_fp16_bf16_reduction "
            "_set_print_stack_traces_on_fatal_signal _storage_Use_Count",
        ),
    ),
    "_C._autograd": ((PROFILER, "_KinetoEvent"), (INTERNAL, "_saved_tensors_hooks_set_tracing")),
    "_C._distributed_c10d": ((PROCESSES, "ErrorType _SymmetricMemory _register_process_group"),),
    "_C._distributed_rpc": ((PROCESSES, "_is_current_rpc_agent_set"),),
    "_C._dynamo.eval_frame": (
        (GRAPHS, "_FrameAction _FrameExecStrategy _set_lru_cache set_code_exec_strategy"),
    ),
    "_C._instruction_counter": ((INTERNAL, "end start"),),
    "_C._jit_tree_views": ((GRAPHS, "SourceRangeFactory"),),
    "_C._nativert": ((GRAPHS, "PyModelRunner"),),
    "_C._onnx": ((GRAPHS, ""),),
    "_C._profiler": ((PROFILER, "_ExperimentalConfig _RecordFunctionFast"),),
    "__future__": ((INTERNAL, "get_overwrite_module_params_on_conversion"),),
    "_dynamo": ((GRAPHS, "override_optimization_hint"),),
    "_dynamo.bytecode_transformation": ((GRAPHS, "Instruction"),),
    "_dynamo.compiled_autograd": ((GRAPHS, "_enable in_compiled_autograd_region"),),
    "_dynamo.decorators": ((GRAPHS, "mark_unbacked"),),
    "_dynamo.exc": ((GRAPHS, "raise_observed_exception raise_type_error unimplemented"),),
    "_dynamo.functional_export": ((GRAPHS, "dynamo_graph_capture_for_export"),),
    "_dynamo.graph_deduplication": ((GRAPHS, "_stable_topological_sort"),),
    "_dynamo.guards": ((GRAPHS, "GuardBuilder"),),
    "_dynamo.metrics_context": ((GRAPHS, "MetricsContext RuntimeMetricsContext"),),
    "_dynamo.output_graph": ((GRAPHS, "GraphCompileReason OutputGraph"),),
    "_dynamo.replay_record": ((GRAPHS, "ExecutionRecord"),),
    "_dynamo.source": ((GRAPHS, "ConstantSource LocalSource"),),
    "_dynamo.symbolic_convert": ((GRAPHS, "InstructionTranslator InstructionTranslatorBase"),),
    "_dynamo.trace_rules": ((GRAPHS, "_force_inline"),),
    "_dynamo.utils": (
        (
            GRAPHS,
            "bitwise_same calculate_time_spent clone_inputs compilation_time_metrics "
            "compile_times copy_dynamo_tensor_attributes dynamo_timed get_debug_dir "
            "get_metrics_context graph_break_reasons op_count print_time_report same "
            "to_fake_tensor",
        ),
    ),
    "_dynamo.variables": ((GRAPHS, "UserDefinedObjectVariable"),),
    "_dynamo.variables.base": ((GRAPHS, "VariableTracker"),),
    "_dynamo.variables.builder": ((GRAPHS, "SourcelessBuilder wrap_to_fake_tensor_and_record"),),
    "_dynamo.variables.functions": ((GRAPHS, "UserFunctionVariable"),),
    "_dynamo.variables.torch_function": ((GRAPHS, "TensorWithTFOverrideVariable"),),
    "_export": ((GRAPHS, "aot_compile"),),
    "_export.utils": ((GRAPHS, "register_dataclass_as_pytree_node"),),
    "_functorch.vmap": (
        (
            INTERNAL,
            "_create_batched_inputs _get_name _maybe_remove_batch_dim _process_batched_inputs "
            "_unwrap_batched",
        ),
    ),
    "_guards": ((GRAPHS, "CompileContext CompileId tracing"),),
    "_higher_order_ops.associative_scan": ((GRAPHS, ""),),
    "_higher_order_ops.effects": ((GRAPHS, "_get_effect _register_effectful_op"),),
    "_higher_order_ops.flex_attention": ((GRAPHS, ""),),
    "_higher_order_ops.invoke_subgraph": ((GRAPHS, ""),),
    "_higher_order_ops.scan": ((GRAPHS, ""),),
    "_higher_order_ops.wrap": ((GRAPHS, "tag_activation_checkpoint wrap_activation_checkpoint"),),
    "_inductor": ((GRAPHS, "aoti_compile_and_package aoti_load_package compile cudagraph_mark_step_begin"),),
    "_inductor.codecache": ((GRAPHS, "extract_tensor_metadata_for_cache_key"),),
    "_inductor.cpu_vec_isa": ((GRAPHS, "pick_vec_isa"),),
    "_inductor.runtime.cache_dir_utils": ((GRAPHS, "cache_dir"),),
    "_inductor.standalone_compile": ((GRAPHS, ""),),
    "_inductor.utils": (
        (
            GRAPHS,
            "ValueWithLineMap count_tangents device_need_guard fresh_cache fresh_inductor_cache "
            "maybe_profile print_performance run_fw_bw_and_get_code "
            "should_use_remote_fx_graph_cache",
        ),
    ),
    "_jit_internal": ((GRAPHS, "_qualified_name"),),
    "_library": ((GRAPHS, "register_fake_class"),),
    "_library.custom_ops": ((GRAPHS, "_maybe_get_opdef"),),
    "_library.fake_class_registry": ((GRAPHS, "deregister_fake_class"),),
    "_library.opaque_object": ((GRAPHS, "is_opaque_value register_opaque_type"),),
    "_library.triton": ((GRAPHS, "set_wrap_triton_enabled"),),
    "_logging": ((GRAPHS, "get_structured_logging_overhead"),),
    "_logging._internal": ((GRAPHS, "get_loggers trace_structured"),),
    "_meta_registrations": ((GRAPHS, "register_meta"),),
    "_numpy": ((INTERNAL, "ndarray"),),
    "_ops": ((GRAPHS, "HigherOrderOperator"),),
    "_prims.rng_prims": ((INTERNAL, ""),),
    "_subclasses.fake_tensor": (
        (
            GRAPHS,
            "FakeCopyMode FakeTensorConfig",
        ),
    ),
    "_subclasses.functional_tensor": (
        (GRAPHS, "FunctionalTensor FunctionalTensorMode mb_unwrap_functional_tensor"),
    ),
    "_subclasses.meta_utils": (
        (GRAPHS, "MetaConverter disable_inference_mode_for_fake_prop is_sparse_compressed"),
    ),
    "_tensor_str": ((INTERNAL, "_add_suffixes _str_intern"),),
    "_utils_internal": (
        (
            GRAPHS,
            "log_chromium_event_internal log_compilation_event record_chromium_event_internal",
        ),
    ),
    "amp.grad_scaler": ((INTERNAL, "_refresh_per_optimizer_state"),),
    "ao.quantization": ((QUANTIZED, "get_default_qconfig_mapping get_default_qconfig_propagation_list"),),
    "ao.quantization.fx._decomposed": ((QUANTIZED, ""),),
    "autograd": (
        (INTERNAL, "DeviceType _disable_profiler _profiler_enabled _unsafe_preserve_version_counter"),
    ),
    "accelerator": ((CUDA, "Graph empty_host_cache get_device_capability graphs memory"),),
    "autograd.graph": (
        (
            INTERNAL,
            "set_override_stale_capture_stream set_warn_on_accumulate_grad_stream_mismatch",
        ),
    ),
    "autograd.profiler_legacy": ((PROFILER, "profile"),),
    "autograd.profiler_util": ((PROFILER, "_format_memory"),),
    "backends.cuda": ((CUDA, "SDPAParams"),),
    "compiler": ((GRAPHS, "_is_non_strict_tracing _non_strict_tracing_context load_compiled_function"),),
    "compiler.config": ((GRAPHS, "get_config_copy"),),
    "cuda": (
        (
            CUDA,
            "GreenContext _compile_kernel _get_pynvml_handler _sleep",
        ),
    ),
    "cuda._memory_viz": ((CUDA, "memory segment_plot segments trace_plot"),),
    "cuda.amp.autocast_mode": ((CUDA, "_cast"),),
    "cuda.amp.grad_scaler": ((CUDA, ""),),
    "cuda.jiterator": ((CUDA, "_create_jit_fn _create_multi_output_jit_fn"),),
    "cuda.nccl": ((CUDA, "version"),),
    "cuda.profiler": ((CUDA, "profile start stop"),),
    "distributed": (
        (
            PROCESSES,
            "AllreduceCoalescedOptions GradBucket ProcessGroupGloo Reducer _CoalescingManager "
            "_coalescing_manager _get_process_group_name _make_nccl_premul_sum _rank_not_in_group "
            "_remote_device",
        ),
    ),
    "distributed._composable": ((PROCESSES, "checkpoint"),),
    "distributed._composable.contract": ((PROCESSES, ""),),
    "distributed._composable.replicate": ((PROCESSES, ""),),
    "distributed._local_tensor": ((PROCESSES, "LocalTensorMode"),),
    "distributed._mesh_layout": ((PROCESSES, "_MeshLayout"),),
    "distributed._shard.sharded_tensor": (
        (PROCESSES, "ShardedTensorBase empty full init_from_local_shards"),
    ),
    "distributed._shard.sharding_spec": ((PROCESSES, "EnumerableShardingSpec ShardingSpec"),),
    "distributed._shard.sharding_spec.api": ((PROCESSES, "EnumerableShardingSpec"),),
    "distributed._symmetric_memory": (
        (
            PROCESSES,
            "_test_mode empty enable_symm_mem_for_group get_backend get_mem_pool "
            "get_symm_mem_workspace is_symm_mem_tensor rendezvous set_backend",
        ),
    ),
    "distributed.algorithms.ddp_comm_hooks": ((PROCESSES, ""),),
    "distributed.algorithms.ddp_comm_hooks.default_hooks": ((PROCESSES, ""),),
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook": ((PROCESSES, ""),),
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook": ((PROCESSES, ""),),
    "distributed.autograd": ((PROCESSES, "backward context get_gradients"),),
    "distributed.checkpoint": (
        (
            PROCESSES,
            "BytesStorageMetadata ChunkStorageMetadata DefaultLoadPlanner DefaultSavePlanner "
            "HuggingFaceStorageReader HuggingFaceStorageWriter LoadPlan LoadPlanner Metadata "
            "QuantizedHuggingFaceStorageReader ReadItem SavePlan SavePlanner "
            "TensorStorageMetadata WriteItem",
        ),
    ),
    "distributed.checkpoint._consolidate_hf_safetensors": (
        (PROCESSES, "consolidate_safetensors_files consolidate_safetensors_files_on_every_rank"),
    ),
    "distributed.checkpoint._nested_dict": (
        (PROCESSES, "FLATTEN_MAPPING flatten_state_dict unflatten_state_dict"),
    ),
    "distributed.checkpoint._sharded_tensor_utils": ((PROCESSES, "_flatten_sharded_tensors"),),
    "distributed.checkpoint._traverse": ((PROCESSES, "OBJ_PATH set_element traverse_state_dict"),),
    "distributed.checkpoint.api": ((PROCESSES, "WRAPPED_EXCEPTION _wrap_exception"),),
    "distributed.checkpoint.default_planner": ((PROCESSES, "DefaultLoadPlanner DefaultSavePlanner"),),
    "distributed.checkpoint.filesystem": (
        (PROCESSES, "DEFAULT_SUFFIX SerializationFormat _StoragePrefix _StorageWriterTransforms _write_item"),
    ),
    "distributed.checkpoint.format_utils": ((PROCESSES, "_EmptyStateDictLoadPlanner"),),
    "distributed.checkpoint.hf_storage": ((PROCESSES, "HuggingFaceStorageReader HuggingFaceStorageWriter"),),
    "distributed.checkpoint.metadata": ((PROCESSES, "STATE_DICT_TYPE"),),
    "distributed.checkpoint.optimizer": ((PROCESSES, "ChunkShardingSpec load_sharded_optimizer_state_dict"),),
    "distributed.checkpoint.planner": ((PROCESSES, "TensorProperties TensorWriteData WriteItemType"),),
    "distributed.checkpoint.planner_helpers": ((PROCESSES, "_create_write_items"),),
    "distributed.checkpoint.staging": ((PROCESSES, "DefaultStager StagingOptions"),),
    "distributed.checkpoint.state_dict_loader": ((PROCESSES, "_load_state_dict _load_state_dict_from_keys"),),
    "distributed.checkpoint.state_dict_saver": (
        (PROCESSES, "AsyncCheckpointerType AsyncSaveResponse _save_state_dict"),
    ),
    "distributed.checkpoint.storage": ((PROCESSES, "WriteResult"),),
    "distributed.checkpoint.utils": (
        (PROCESSES, "MetadataIndex Shard ShardedTensor _DistWrapper _get_failure_dict"),
    ),
    "distributed.config": ((PROCESSES, ""),),
    "distributed.device_mesh": ((PROCESSES, "_mesh_resources _register_distributed_opaque_types"),),
    "distributed.distributed_c10d": (
        (
            PROCESSES,
            "GroupName _CoalescingManager _GLOO_AVAILABLE _ProcessGroupWrapper _all_gather_base "
            "_coalescing_manager _get_default_store _get_global_rank _get_object_coll_device "
            "_new_process_group_helper _object_to_tensor _pg_group_ranks _pg_map _pickler "
            "_reduce_scatter_base _set_pg_timeout _tensor_to_object _unpickler _warn_not_in_group "
            "_world",
        ),
    ),
    "distributed.elastic.agent.server": ((PROCESSES, "RunResult WorkerGroup WorkerSpec WorkerState"),),
    "distributed.elastic.agent.server.local_elastic_agent": ((PROCESSES, "LocalElasticAgent"),),
    "distributed.elastic.metrics": ((PROCESSES, "put_metric"),),
    "distributed.elastic.multiprocessing": ((PROCESSES, "Std start_processes"),),
    "distributed.elastic.multiprocessing.errors": ((PROCESSES, "ChildFailedError record"),),
    "distributed.elastic.rendezvous": ((PROCESSES, "RendezvousParameters"),),
    "distributed.elastic.rendezvous.registry": ((PROCESSES, "get_rendezvous_handler"),),
    "distributed.elastic.utils": ((PROCESSES, "macros"),),
    "distributed.elastic.utils.distributed": ((PROCESSES, "get_free_port"),),
    "distributed.elastic.utils.logging": ((PROCESSES, "get_logger"),),
    "distributed.fsdp": ((PROCESSES, "DataParallelMeshDims FlatParameter"),),
    "distributed.fsdp._common_utils": ((PROCESSES, "_no_dispatch_record_stream clean_tensor_name"),),
    "distributed.fsdp._fully_shard._fsdp_common": (
        (PROCESSES, "FSDPMeshInfo HSDPMeshInfo ShardPlacementResult"),
    ),
    "distributed.fsdp._fully_shard._fsdp_init": ((PROCESSES, "_get_mesh_info"),),
    "distributed.fsdp._runtime_utils": (
        (PROCESSES, "_post_backward_final_callback _reshard _root_pre_forward"),
    ),
    "distributed.fsdp.fully_sharded_data_parallel": ((PROCESSES, "ActivationWrapper FlatParamHandle"),),
    "distributed.fsdp.wrap": ((PROCESSES, "_recursive_wrap"),),
    "distributed.launcher.api": ((PROCESSES, "LaunchConfig elastic_launch"),),
    "distributed.pipelining": ((PROCESSES, "ScheduleGPipe SplitPoint pipeline"),),
    "distributed.remote_device": ((PROCESSES, "_remote_device"),),
    "distributed.rpc": ((PROCESSES, "BackendType PyRRef RRef TensorPipeRpcBackendOptions"),),
    "distributed.rpc.api": ((PROCESSES, "_all_gather"),),
    "distributed.rpc.functions": ((PROCESSES, "async_execution"),),
    "distributed.run": ((PROCESSES, ""),),
    "distributed.tensor._random": ((PROCESSES, "manual_seed"),),
    "distributed.tensor._redistribute": ((PROCESSES, "redistribute_local_tensor"),),
    "distributed.tensor.experimental._attention": ((PROCESSES, "set_rotate_method"),),
    "distributed.tensor.parallel.fsdp": (
        (PROCESSES, "ShardMetadata ShardedTensorMetadata TensorProperties"),
    ),
    "distributed.tensor.parallel.loss": ((PROCESSES, "DTensorSpec"),),
    "distributed.tensor.placement_types": ((PROCESSES, "_MaskPartial"),),
    "export": (
        (
            EXPORTED,
            "AdditionalInputs Constraint CustomDecompTable ExportBackwardSignature FlatArgsAdapter "
            "UnflattenedModule draft_export unflatten",
        ),
    ),
    "export._trace": ((EXPORTED, ""),),
    "export.decomp_utils": ((EXPORTED, "CustomDecompTable"),),
    "export.dynamic_shapes": (
        (EXPORTED, "AdditionalInputs Constraint MappingKey TreeSpec _combine_args _tree_map_with_path"),
    ),
    "export.exported_program": ((EXPORTED, "TracingContext"),),
    "fx.experimental.proxy_tensor": ((GRAPHS, "FunctionalTensor HigherOrderOperator"),),
    "fx.experimental.symbolic_shapes": (
        (GRAPHS, "DivideByKey FloorDiv OrderedSet ShapeEnv Source ValueRangeError ValueRanges"),
    ),
    "fx.passes.regional_inductor": ((GRAPHS, "_dummy_wrapper regional_inductor"),),
    "fx.passes.reinplace": ((GRAPHS, "FakeTensor FakeTensorMode"),),
    "fx.passes.runtime_assert": ((GRAPHS, "insert_deferred_runtime_asserts"),),
    "fx.passes.shape_prop": ((GRAPHS, "enable_python_dispatcher"),),
    "hub": ((INTERNAL, "_validate_not_a_forked_repo"),),
    "jit": ((SCRIPTED, "Future _flatten"),),
    "jit._recursive": ((SCRIPTED, "ConcreteTypeStore concrete_type_store"),),
    "jit._script": ((SCRIPTED, "_recursive_compile_class"),),
    "jit._state": ((SCRIPTED, "_jit_caching_layer"),),
    "jit.annotations": ((SCRIPTED, "OpOverloadPacket try_ann_to_type"),),
    "jit.frontend": ((SCRIPTED, "NotSupportedError"),),
    "library": ((GRAPHS, "EffectType"),),
    "monitor": ((INTERNAL, "_WaitCounter"),),
    "mps": ((DEVICES, "_host_alias_storage"),),
    "multiprocessing.reductions": ((INTERNAL, "reduce_typed_storage reduce_typed_storage_child"),),
    "nested._internal.nested_int": ((NESTED, "NestedIntNode"),),
    "nested._internal.nested_tensor": ((NESTED, "NestedTensor _tensor_symint_registry"),),
    "nested._internal.ops": ((NESTED, "extract_kwargs"),),
    "nn.attention": ((INTERNAL, "SDPAParams activate_flash_attention_impl current_flash_attention_impl"),),
    "nn.attention.flex_attention": ((INTERNAL, "GetAttrKey _MaskModWrapper"),),
    "nn.functional": (
        (
            INTERNAL,
            "ScalingType SwizzleType _in_projection_packed _mha_shape_check scaled_grouped_mm scaled_mm",
        ),
    ),
    "nn.modules.conv": ((INTERNAL, "_ConvTransposeMixin"),),
    "nn.modules.lazy": ((INTERNAL, "_LazyProtocol"),),
    "nn.modules.pooling": ((INTERNAL, "_AdaptiveAvgPoolNd"),),
    "nn.parallel._functions": ((DEVICES, "Broadcast Gather Scatter _get_stream"),),
    "nn.parallel.distributed": ((INTERNAL, "_find_tensors _verify_param_shape_across_processes"),),
    "nn.parallel.scatter_gather": ((INTERNAL, "Scatter"),),
    "nn.quantized": ((QUANTIZED, "FloatFunctional QFunctional"),),
    "nn.utils._named_member_accessor": ((INTERNAL, "NamedMemberAccessor swap_tensor"),),
    "nn.utils._per_sample_grad": ((INTERNAL, "call_for_per_sample_grads"),),
    "nn.utils.clip_grad": ((INTERNAL, "_no_grad _tensor_or_tensors"),),
    "numa.binding": ((INTERNAL, "AffinityMode NumaOptions _maybe_apply_numa_binding_to_current_process"),),
    "onnx": ((ONNX, "TensorProtoDataType"),),
    "onnx._constants": ((ONNX, "ONNX_CONSTANT_FOLDING_MIN_OPSET ONNX_DEFAULT_OPSET ONNX_MAX_OPSET"),),
    "onnx._internal.exporter": ((ONNX, ""),),
    "onnx.operators": ((ONNX, "reshape_from_tensor_shape shape_as_tensor"),),
    "onnx.symbolic_helper": (
        (
            ONNX,
            "_get_const _get_tensor_rank _get_tensor_sizes _is_none _is_tensor _is_value "
            "_maybe_get_scalar _onnx_opset_unsupported_detailed _onnx_unsupported "
            "_repeat_interleave_split_helper _reshape_helper _slice_helper cast_pytorch_to_onnx "
            "scalar_type_to_onnx",
        ),
    ),
    "onnx.symbolic_opset12": ((ONNX, ""),),
    "onnx.symbolic_opset9": ((ONNX, "expand masked_fill select softmax squeeze sub unsqueeze unused"),),
    "onnx.utils": ((ONNX, "_decide_input_format _export _model_to_graph register_custom_op_symbolic"),),
    "optim._functional": ((INTERNAL, "adamw"),),
    "optim.optimizer": (
        (
            INTERNAL,
            "_default_to_fused_or_foreach _get_capturable_supported_devices _use_grad_for_differentiable",
        ),
    ),
    "optim.swa_utils": ((INTERNAL, "_group_tensors_by_device_and_dtype"),),
    "package.importer": ((INTERNAL, "sys_importer"),),
    "profiler": ((PROFILER, "ExecutionTraceObserver _ExperimentalConfig"),),
    "profiler._memory_profiler": ((PROFILER, "Action _CATEGORY_TO_COLORS _CATEGORY_TO_INDEX"),),
    "profiler._utils": ((PROFILER, "_init_for_cuda_graphs"),),
    "profiler.profiler": ((PROFILER, "MemoryProfileTimeline _default_schedule_fn"),),
    "serialization": (
        (
            INTERNAL,
            "_open_file_like get_unsafe_globals_in_checkpoint normalize_storage_type "
            "set_default_mmap_options skip_data",
        ),
    ),
    "sparse": ((SPARSE, "to_sparse_semi_structured"),),
    "testing._internal.distributed.fake_pg": ((PROCESSES, "FakeStore"),),
    "utils": ((INTERNAL, "cmake_prefix_path"),),
    "utils._debug_mode": ((GRAPHS, "DebugMode"),),
    "utils._debug_mode._calls": ((GRAPHS, "_OpCall"),),
    "utils._device": ((INTERNAL, ""),),
    "utils._stats": ((INTERNAL, "simple_call_counter"),),
    "utils._sympy.numbers": ((GRAPHS, "IntInfinity int_oo"),),
    "utils._sympy.value_ranges": ((GRAPHS, "ValueRanges"),),
    "utils.checkpoint": (
        (
            INTERNAL,
            "_checkpoint_without_reentrant_generator",
        ),
    ),
    "utils.collect_env": (
        (INTERNAL, "get_cpu_info get_gcc_version get_gpu_info get_nvidia_driver_version run"),
    ),
    "utils.cpp_extension": (
        (
            EXTENSIONS,
            "CUDA_GCC_VERSIONS HIP_HOME MINIMUM_GCC_VERSION SUBPROCESS_DECODE_ARGS "
            "_get_build_directory _is_cuda_file _join_cuda_home _join_rocm_home _maybe_write "
            "_write_ninja_file get_cxx_compiler get_default_build_root",
        ),
    ),
    "utils.data": ((PIPES, "IterDataPipe MapDataPipe"),),
    "utils.data._utils.worker": ((PIPES, "_generate_state _worker_info"),),
    "utils.data.datapipes": ((PIPES, ""),),
    "utils.data.datapipes.iter": ((PIPES, "Batcher FileLister FileOpener IterableWrapper Mapper Shuffler"),),
    "utils.data.datapipes.iter.combinatorics": ((PIPES, "ShufflerIterDataPipe"),),
    "utils.data.datapipes.iter.combining": ((PIPES, "_ChildDataPipe"),),
    "utils.data.datapipes.utils.common": ((PIPES, "DILL_AVAILABLE StreamWrapper"),),
    "utils.data.graph": ((PIPES, "DataPipe DataPipeGraph traverse_dps"),),
    "utils.data.graph_settings": ((PIPES, "apply_shuffle_settings get_all_graph_pipes"),),
    "utils.file_baton": ((EXTENSIONS, "FileBaton"),),
    "utils.hooks": ((INTERNAL, "BackwardHook"),),
    "version": ((INTERNAL, ""),),
    "xpu": ((DEVICES, "_lazy_call set_rng_state_all"),),
}
