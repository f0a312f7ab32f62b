package io.gpufleet.testbed.testkit;

/**
 * The GPUs that a test daemon announces.
 *
 * @param count number of GPUs
 * @param model name as NVML has it
 * @param shortModel for example {@code H100}
 * @param cudaVersion CUDA version of the driver; empty when it has none
 */
public record TestGpus(int count, String model, String shortModel, String cudaVersion) {
    private static final String CUDA = "12.4";

    /** GPUs of a model. */
    public TestGpus(int count, String model, String shortModel) {
        this(count, model, shortModel, CUDA);
    }

    /** NVIDIA H100 80GB. */
    public static TestGpus h100(int count) {
        return new TestGpus(count, "NVIDIA H100 80GB HBM3", "H100");
    }

    /** NVIDIA A100 40GB. */
    public static TestGpus a100(int count) {
        return new TestGpus(count, "NVIDIA A100-SXM4-40GB", "A100");
    }

    /** The same GPUs under a driver that names no CUDA version. */
    public TestGpus withoutCuda() {
        return new TestGpus(count, model, shortModel, "");
    }
}
