package io.gpufleet.nodedaemon.cdi;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Files by which the loaders of EGL, GBM, Wayland, OpenCL, Vulkan and OptiX find the driver; each where its loader searches. */
final class GraphicsLoaderFiles {
    private static final List<String> SHARED = List.of(
            "glvnd/egl_vendor.d/10_nvidia.json",
            "egl/egl_external_platform.d/15_nvidia_gbm.json",
            "egl/egl_external_platform.d/10_nvidia_wayland.json",
            "egl/egl_external_platform.d/09_nvidia_wayland2.json",
            "egl/egl_external_platform.d/20_nvidia_xcb.json",
            "egl/egl_external_platform.d/20_nvidia_xlib.json",
            "nvidia/nvoptix.bin");
    private static final List<String> OF_HOST = List.of("OpenCL/vendors/nvidia.icd");
    private static final List<String> VULKAN = List.of(
            "vulkan/icd.d/nvidia_icd.json",
            "vulkan/icd.d/nvidia_icd." + machine() + ".json",
            "vulkan/icd.d/nvidia_layers.json",
            "vulkan/implicit_layer.d/nvidia_layers.json");

    private GraphicsLoaderFiles() {}

    private static String machine() {
        return System.getProperty("os.arch").toLowerCase(Locale.ROOT).equals("aarch64") ? "aarch64" : "x86_64";
    }

    /** The files that a driver root has. */
    static List<CdiMount> mounts(DriverRoot root) {
        var found = new ArrayList<CdiMount>();
        SHARED.forEach(file -> find(root, file).ifPresent(path -> found.add(new CdiMount(path, "/usr/share/" + file))));
        OF_HOST.forEach(file -> find(root, file).ifPresent(path -> found.add(new CdiMount(path, "/etc/" + file))));
        // Some installers put them into the root itself.
        VULKAN.forEach(file -> find(root, file)
                .or(() -> root.firstExisting(List.of(file)))
                .ifPresent(path -> found.add(new CdiMount(path, "/etc/" + file))));
        return found;
    }

    private static Optional<String> find(DriverRoot root, String file) {
        return root.firstExisting(List.of("etc/" + file, "usr/share/" + file));
    }
}
