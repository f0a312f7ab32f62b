package io.gpufleet.xid;

import java.util.List;

/**
 * One error of NVLink of the fifth generation, identified by the fields of the driver's log line.
 *
 * @param xid 144 to 150
 * @param subcodes part of the link with the error, as printed by drivers before 575 and by later ones; a single entry
 *     where both print the same
 * @param intrInfo bits of the first number of the line that identify this error, in both bit orders used by drivers
 * @param errorStatus second number of the line
 * @param immediate immediate action
 * @param investigatory investigatory action, NVIDIA's text
 */
public record NvLinkError(
        int xid,
        List<String> subcodes,
        List<BitPattern> intrInfo,
        int errorStatus,
        XidImmediateAction immediate,
        String investigatory) {
    /** Copies the lists. */
    public NvLinkError {
        subcodes = List.copyOf(subcodes);
        intrInfo = List.copyOf(intrInfo);
    }

    /**
     * Bit pattern with don't-care bits.
     *
     * @param mask bits that are compared
     * @param value required value of these bits
     */
    public record BitPattern(int mask, int value) {
        private static final int BIT_COUNT = 32;

        /**
         * Parses 32 characters, bit 31 first: 0, 1, or - for any. Throws {@link IllegalArgumentException} for other
         * text.
         */
        static BitPattern parse(String text) {
            if (!text.matches("[01-]{" + BIT_COUNT + "}")) {
                throw new IllegalArgumentException(text + " is not 32 times 0, 1 or -");
            }
            return new BitPattern(
                    Integer.parseUnsignedInt(text.replace('0', '1').replace('-', '0'), 2),
                    Integer.parseUnsignedInt(text.replace('-', '0'), 2));
        }

        boolean matches(int bits) {
            return (bits & mask) == value;
        }

        /** Returns whether some number matches both patterns. */
        boolean overlaps(BitPattern other) {
            return ((value ^ other.value) & mask & other.mask) == 0;
        }
    }

    boolean matches(int code, String subcode, int info, int status) {
        return xid == code
                && errorStatus == status
                && subcodes.contains(subcode)
                && intrInfo.stream().anyMatch(pattern -> pattern.matches(info));
    }
}
