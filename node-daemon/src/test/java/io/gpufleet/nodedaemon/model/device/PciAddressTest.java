package io.gpufleet.nodedaemon.model.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PciAddressTest {
    @ParameterizedTest
    @CsvSource({
        "00000000:3B:00.0, 00000000:3B:00.0, 0000:3b:00.0",
        "0000:3b:00.0, 00000000:3B:00.0, 0000:3b:00.0",
        "3b:00, 00000000:3B:00.0, 0000:3b:00.0",
        "0:3B:0, 00000000:3B:00.0, 0000:3b:00.0",
        "0001:e1:1f.7, 00000001:E1:1F.7, 0001:e1:1f.7",
        "00010000:E1:00.0, 00010000:E1:00.0, 10000:e1:00.0",
        "10000:e1:00.0, 00010000:E1:00.0, 10000:e1:00.0",
        "FFFFFFFF:FF:1F.7, FFFFFFFF:FF:1F.7, ffffffff:ff:1f.7",
    })
    void everyWrittenFormIsParsed(String text, String nvml, String sysfs) {
        PciAddress address = PciAddress.parse(text).orElseThrow();

        assertThat(address.nvml()).isEqualTo(nvml);
        assertThat(address.sysfs()).isEqualTo(sysfs);
        assertThat(PciAddress.parse(address.nvml())).contains(address);
        assertThat(PciAddress.parse(address.sysfs())).contains(address);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "GPU-1", "3b", "0000:3b:00.8", "0000:3b:00.", "000000000:3b:00.0", " 3b:00", "pci0000:3b"})
    void otherTextIsNoAddress(String text) {
        assertThat(PciAddress.parse(text)).isEmpty();
    }

    @Test
    void functionIsIgnoredOnRequest() {
        assertThat(PciAddress.parse("0000:3b:00.1").map(PciAddress::withoutFunction))
                .isEqualTo(PciAddress.parse("3b:00"));
    }
}
