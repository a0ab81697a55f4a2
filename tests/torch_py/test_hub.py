"""torch.hub: models from a folder, and downloads."""

import pytest

import torch_py as torch


def test_hub_loads_from_a_folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['math']\ndef model(size, scale=1):\n    'A model.'\n    return size * scale\ndef "
        "_hidden(): pass\n"
    )

    assert torch.hub.load(str(tmp_path), "model", 3, scale=2, source="local") == 6
    assert torch.hub.list(str(tmp_path), source="local") == ["model"]
    assert torch.hub.help(str(tmp_path), "model", source="local") == "A model."

    with pytest.raises(RuntimeError, match="Cannot find callable other"):
        torch.hub.load(str(tmp_path), "other", source="local")
    with pytest.raises(ValueError, match="source"):
        torch.hub.load(str(tmp_path), "model", source="elsewhere")
    with pytest.raises(NotImplementedError, match="GitHub"):
        torch.hub.load("owner/repo", "model")
    with pytest.raises(FileNotFoundError):
        torch.hub.load(str(tmp_path / "nothing"), "model", source="local")


def test_hub_downloads_whole_files_only(tmp_path):
    source = tmp_path / "weights-0123abcd.pth"
    torch.save({"x": torch.ones(2)}, source)
    loaded = torch.hub.load_state_dict_from_url(
        source.as_uri(), model_dir=str(tmp_path / "models"), progress=False, weights_only=True
    )
    assert loaded["x"].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="invalid hash value"):
        torch.hub.download_url_to_file(
            source.as_uri(), str(tmp_path / "copy"), hash_prefix="0123abcd", progress=False
        )
    assert not list(tmp_path.glob("copy*"))
