package io.gpufleet.nodedaemon.sysfs;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.VgpuHost;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

public class PciConfigSpaceTest {
    private static final int POWER = 0x60;
    private static final int VENDOR = 0x80;

    /** A space with a power management capability, and behind it that of a virtual GPU with two records. */
    public static byte[] ofVirtualGpu(String version, String branch) {
        byte[] config = new byte[256];
        put(config, 0, 0xDE, 0x10);
        put(config, 0x06, 0x10);
        put(config, 0x34, POWER);
        put(config, POWER, 0x01, VENDOR, 0x03);
        // The record before it is of another kind.
        put(config, VENDOR, 0x09, 0x00, 5 + 6 + 22, 'V', 'F', 1, 6, 7, 7, 7, 7, 0, 22);
        text(config, VENDOR + 13, version);
        text(config, VENDOR + 23, branch);
        return config;
    }

    private static void put(byte[] config, int at, int... values) {
        for (int i = 0; i < values.length; i++) {
            config[at + i] = (byte) values[i];
        }
    }

    private static void text(byte[] config, int at, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(bytes, 0, config, at, bytes.length);
    }

    private static String reason(byte[] config) {
        return switch (PciConfigSpace.vgpuHost(config)) {
            case Reading.Unavailable<VgpuHost>(String why) -> why;
            case Known<VgpuHost>(VgpuHost host) -> throw new AssertionError(host);
        };
    }

    @Test
    void driverOfTheHostIsReadFromAVirtualGpu() {
        assertThat(PciConfigSpace.vgpuHost(ofVirtualGpu("525.60", "r525_00")))
                .isEqualTo(new Known<>(new VgpuHost("525.60", "r525_00")));
        assertThat(PciConfigSpace.vgpuHost(ofVirtualGpu("535.104.06", "r535_00_01")))
                .isEqualTo(new Known<>(new VgpuHost("535.104.06", "r535_00_01")));
    }

    @Test
    void truncatedConfigSpaceIsUnavailableWithItsReason() {
        assertThat(reason(new byte[64])).isEqualTo("only 64 bytes of the PCI configuration can be read");
    }

    @Test
    void gpuOfTheMachineItselfIsNoVirtualOne() {
        byte[] without = ofVirtualGpu("525.60", "r525_00");
        put(without, 0x06, 0);
        byte[] unsigned = ofVirtualGpu("525.60", "r525_00");
        put(unsigned, VENDOR + 3, 'X');
        byte[] inACircle = ofVirtualGpu("525.60", "r525_00");
        put(inACircle, POWER + 1, POWER);

        assertThat(reason(without)).isEqualTo("no virtual GPU");
        assertThat(reason(unsigned)).isEqualTo("no virtual GPU");
        assertThat(reason(inACircle)).isEqualTo("no virtual GPU");
    }

    @Test
    void capabilityWithoutThatRecordIsUnavailable() {
        byte[] cutOff = ofVirtualGpu("525.60", "r525_00");
        put(cutOff, VENDOR + 2, 5 + 6 + 21);
        byte[] endless = ofVirtualGpu("525.60", "r525_00");
        put(endless, VENDOR + 6, 0);

        assertThat(reason(cutOff)).startsWith("virtual GPU without host driver");
        assertThat(reason(endless)).startsWith("virtual GPU without host driver");
    }

    @Property(tries = 2000)
    void anyBytesAreReadWithoutAnError(@ForAll @Size(256) byte[] rest, @ForAll byte first) {
        byte[] config = rest.clone();
        put(config, 0x06, 0x10);
        put(config, 0x34, first);
        // Most of the time the chain leads to the vendor's capability
        put(config, Byte.toUnsignedInt(first) % 250, 0x09, rest[1], rest[2], 'V', 'F');

        assertThat(PciConfigSpace.vgpuHost(config)).isNotNull();
    }
}
