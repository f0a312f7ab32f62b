package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.VgpuHost;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What NVIDIA's vGPU manager lays into the PCI configuration space of a virtual GPU: a vendor specific capability, signed
 * "VF", of records with a kind, a length and their content. Record 0 has version and branch of the host's driver.
 */
final class PciConfig {
    private static final int SPACE = 256;
    private static final int STATUS = 0x06;
    private static final int HAS_CAPABILITIES = 0x10;
    private static final int FIRST_CAPABILITY = 0x34;
    private static final int FIRST_POSSIBLE = 0x40;
    private static final int VENDOR_SPECIFIC = 0x09;
    /** Kind, next, length, and the signature. */
    private static final int CAPABILITY_HEAD = 5;

    private static final int RECORD_HEAD = 2;
    private static final int HOST_DRIVER = 0;
    private static final int TEXT = 10;

    private static final Reading<VgpuHost> NONE = new Unavailable<>("no virtual GPU");

    private PciConfig() {}

    /** Reads it from the bytes of a configuration space, which may be anything. */
    static Reading<VgpuHost> vgpuHost(byte[] config) {
        if (config.length < SPACE) {
            return new Unavailable<>("only " + config.length + " bytes of the PCI configuration can be read");
        }
        if ((at(config, STATUS) & HAS_CAPABILITIES) == 0) {
            return NONE;
        }
        int position = at(config, FIRST_CAPABILITY);
        // Capabilities begin at multiples of four behind the header; a chain with more of them goes in a circle.
        for (int left = (SPACE - FIRST_POSSIBLE) / 4; left > 0 && position >= FIRST_POSSIBLE; left--) {
            if (at(config, position) == VENDOR_SPECIFIC && isSigned(config, position)) {
                int end = Math.min(SPACE, position + at(config, position + 2));
                return hostDriver(Arrays.copyOfRange(config, Math.min(end, position + CAPABILITY_HEAD), end));
            }
            position = at(config, position + 1);
        }
        return NONE;
    }

    private static boolean isSigned(byte[] config, int capability) {
        return at(config, capability + 3) == 'V' && at(config, capability + 4) == 'F';
    }

    private static Reading<VgpuHost> hostDriver(byte[] records) {
        int position = 0;
        while (position + RECORD_HEAD <= records.length) {
            int length = at(records, position + 1);
            if (length < RECORD_HEAD || position + length > records.length) {
                break;
            }
            if (at(records, position) == HOST_DRIVER && length >= RECORD_HEAD + 2 * TEXT) {
                int version = position + RECORD_HEAD;
                return new Known<>(new VgpuHost(text(records, version), text(records, version + TEXT)));
            }
            position += length;
        }
        return new Unavailable<>("a virtual GPU that does not tell the driver of its host");
    }

    private static String text(byte[] bytes, int from) {
        String padded = new String(bytes, from, TEXT, StandardCharsets.ISO_8859_1);
        int end = padded.indexOf(0);
        return (end < 0 ? padded : padded.substring(0, end)).strip();
    }

    /** Behind the end, as the hardware would answer: nothing there. */
    private static int at(byte[] bytes, int position) {
        return position < bytes.length ? Byte.toUnsignedInt(bytes[position]) : 0xFF;
    }
}
