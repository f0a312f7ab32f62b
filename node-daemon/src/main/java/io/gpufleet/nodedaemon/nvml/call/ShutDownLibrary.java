package io.gpufleet.nodedaemon.nvml.call;

import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.lang.reflect.Proxy;

/**
 * The library as a session sees it after its shutdown: each function returns UNINITIALIZED. A call that hung over the shutdown
 * and returns later would otherwise pass handles of the old session, which are freed memory, to the next function.
 */
final class ShutDownLibrary {
    static final NvmlLibrary INSTANCE = (NvmlLibrary) Proxy.newProxyInstance(
            NvmlLibrary.class.getClassLoader(),
            new Class<?>[] {NvmlLibrary.class},
            (_, function, _) -> function.getReturnType() == int.class ? (Object) NvmlConstants.UNINITIALIZED : "");

    private ShutDownLibrary() {}
}
