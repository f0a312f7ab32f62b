package io.gpufleet.nodedaemon.nvml;

/** An NVML call that did not succeed, with its return code; {@link #HUNG} where it did not return at all. */
final class NvmlFailure extends Exception {
    private static final long serialVersionUID = 1L;

    /** No code of NVML: the call is still under way. */
    static final int HUNG = -1;

    /** No code of NVML: whoever waited for the call was told to stop. */
    static final int INTERRUPTED = -2;

    private final String call;
    private final int code;

    NvmlFailure(String call, int code) {
        super(call + ": " + ReturnCode.name(code));
        this.call = call;
        this.code = code;
    }

    String call() {
        return call;
    }

    int code() {
        return code;
    }

    /** The code's name without NVML_ERROR_, for example GPU_IS_LOST. */
    String name() {
        return ReturnCode.name(code);
    }

    /** Whether it is the driver or the library that fails, not one GPU. */
    boolean concernsDriver() {
        return ReturnCode.concernsDriver(code);
    }
}
