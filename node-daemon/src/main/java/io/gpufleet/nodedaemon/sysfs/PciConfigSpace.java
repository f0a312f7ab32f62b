package io.gpufleet.nodedaemon.sysfs;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.device.VgpuHost;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads the host driver from the PCI configuration space of a virtual GPU, where NVIDIA's vGPU manager writes a vendor
 * specific capability:
 *
 * <pre>
 * offset 0  capability id, 0x09
 *        1  offset of the next capability
 *        2  length of this capability
 *        3  signature "VF"
 *        5  records of: kind (1 byte), length with this header (1 byte), content
 * record of kind 0: driver version (10 characters, padded with NUL), driver branch (10 characters)
 * </pre>
 */
final class PciConfigSpace {
    private static final int SPACE = 256;
    private static final int STATUS = 0x06;
    private static final int HAS_CAPABILITIES = 0x10;
    private static final int FIRST_CAPABILITY = 0x34;
    private static final int FIRST_POSSIBLE = 0x40;
    private static final int VENDOR_SPECIFIC = 0x09;
    /** Id, next, length and signature. */
    private static final int CAPABILITY_HEAD = 5;

    private static final int RECORD_HEAD = 2;
    private static final int HOST_DRIVER = 0;
    private static final int TEXT = 10;

    private static final Reading<VgpuHost> NONE = new Unavailable<>("no virtual GPU");

    private PciConfigSpace() {}

    /** Reads the bytes of a configuration space; never fails, whatever they are. */
    static Reading<VgpuHost> vgpuHost(byte[] config) {
        if (config.length < SPACE) {
            return new Unavailable<>("only " + config.length + " bytes of the PCI configuration can be read");
        }
        if ((at(config, STATUS) & HAS_CAPABILITIES) == 0) {
            return NONE;
        }
        int position = at(config, FIRST_CAPABILITY);
        // Capabilities begin at multiples of four behind the header, so a longer chain is a loop.
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
        return new Unavailable<>("virtual GPU without host driver version");
    }

    private static String text(byte[] bytes, int from) {
        String padded = new String(bytes, from, TEXT, StandardCharsets.ISO_8859_1);
        int end = padded.indexOf(0);
        return (end < 0 ? padded : padded.substring(0, end)).strip();
    }

    /** The byte at a position; 0xFF behind the end, as hardware reads where nothing is. */
    private static int at(byte[] bytes, int position) {
        return position < bytes.length ? Byte.toUnsignedInt(bytes[position]) : 0xFF;
    }
}
