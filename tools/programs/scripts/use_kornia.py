"""kornia: filters, colours, geometry with gradients, losses, an augmentation, and a small trained model."""

import kornia as K
import torch

torch.manual_seed(0)
images = torch.rand(2, 3, 24, 24, requires_grad=True)
grey = K.color.rgb_to_grayscale(images)
values = {
    "blur": K.filters.gaussian_blur2d(images, (5, 5), (1.5, 1.5)),
    "sobel": K.filters.sobel(images),
    "laplacian": K.filters.laplacian(images, 3),
    "median": K.filters.median_blur(images, (3, 3)),
    "bilateral": K.filters.bilateral_blur(images, (3, 3), 0.1, (1.5, 1.5)),
    "unsharp": K.filters.unsharp_mask(images, (3, 3), (1.5, 1.5)),
    "canny": K.filters.canny(images)[0],
    "hsv": K.color.rgb_to_hsv(images),
    "lab": K.color.rgb_to_lab(images),
    "yuv": K.color.rgb_to_yuv(images),
    "equalized": K.enhance.equalize_clahe(images),
    "gamma": K.enhance.adjust_gamma(images, 1.3),
    "dilated": K.morphology.dilation(images, torch.ones(3, 3)),
    "rotated": K.geometry.transform.rotate(images, torch.tensor([30.0, -45.0])),
    "resized": K.geometry.transform.resize(images, (11, 17)),
    "pyramid": K.geometry.transform.pyrdown(images),
    "harris": K.feature.harris_response(grey, 0.04),
}
for name, value in values.items():
    (gradient,) = (
        torch.autograd.grad(value.square().mean(), images, retain_graph=True)
        if value.requires_grad
        else (torch.zeros(1),)
    )
    print(name, tuple(value.shape), value.mean().item(), gradient.norm().item())

turn = K.geometry.conversions.axis_angle_to_rotation_matrix(torch.tensor([[0.1, -0.2, 0.3]]))
print("rotation", turn.sum().item(), K.geometry.conversions.rotation_matrix_to_quaternion(turn).sum().item())
points = torch.rand(1, 12, 2)
shift = torch.tensor([[[1.1, 0.1, 0.3], [-0.1, 0.9, -0.2], [0.01, 0.02, 1.0]]])
moved = K.geometry.linalg.transform_points(shift, points)
print(
    "homography", (K.geometry.homography.find_homography_dlt(points, moved) - shift).abs().max().item() < 1e-2
)

other = torch.rand(2, 3, 24, 24)
labels = torch.randint(0, 3, (2, 24, 24))
print(
    "losses",
    K.losses.ssim_loss(images, other, 5).item(),
    K.losses.psnr_loss(images, other, 1.0).item(),
    K.losses.total_variation(images).sum().item(),
)
print(
    "segmentation",
    K.losses.dice_loss(images, labels).item(),
    K.losses.focal_loss(images, labels, 0.5, 2.0, "mean").item(),
)

torch.manual_seed(3)
augment = K.augmentation.AugmentationSequential(
    K.augmentation.RandomHorizontalFlip(p=1.0),
    K.augmentation.RandomAffine(15.0, p=1.0),
    K.augmentation.ColorJitter(0.1, 0.1, 0.1, 0.1, p=1.0),
)
print("augmented", tuple(augment(other).shape), bool(((augment(other) >= 0) & (augment(other) <= 1)).all()))

model = torch.nn.Sequential(torch.nn.Conv2d(3, 3, 3, padding=1), K.filters.GaussianBlur2d((3, 3), (1.0, 1.0)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    loss = K.losses.ssim_loss(model(other), other, 5)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
