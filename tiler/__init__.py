"""Full-scene label maps from large satellite scenes, on Huawei Ascend NPUs."""
