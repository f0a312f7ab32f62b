package io.gpufleet.nodedaemon.nvml.call;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Return codes have the names of the header. */
class NvmlReturnCodeTest {
    @ParameterizedTest
    @CsvSource({
        "0, SUCCESS",
        "3, NOT_SUPPORTED",
        "9, DRIVER_NOT_LOADED",
        "13, FUNCTION_NOT_FOUND",
        "15, GPU_IS_LOST",
        "18, LIB_RM_VERSION_MISMATCH",
        "25, ARGUMENT_VERSION_MISMATCH",
        "30, RESET_TYPE_NOT_SUPPORTED",
        "31, CODE_31",
        "999, UNKNOWN",
        "-1, HUNG",
        "-2, INTERRUPTED",
        "-3, CODE_-3"
    })
    void codeHasItsName(int code, String name) {
        assertThat(NvmlReturnCode.name(code)).isEqualTo(name);
    }
}
