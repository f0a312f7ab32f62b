package io.gpufleet.nodedaemon.nvml.call;

/** A failed NVML call with its return code, or {@link NvmlReturnCode#HUNG} where it did not return in time. */
public final class NvmlFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final String call;
    private final int code;

    public NvmlFailure(String call, int code) {
        super(call + ": " + NvmlReturnCode.name(code));
        this.call = call;
        this.code = code;
    }

    String call() {
        return call;
    }

    public int code() {
        return code;
    }

    /** Name of the code without NVML_ERROR_, for example GPU_IS_LOST. */
    public String name() {
        return NvmlReturnCode.name(code);
    }

    /** Whether the driver or the library failed, and not one GPU. */
    public boolean concernsDriver() {
        return NvmlReturnCode.concernsDriver(code);
    }
}
