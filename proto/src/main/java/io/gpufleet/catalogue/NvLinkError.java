package io.gpufleet.catalogue;

import java.util.List;

/**
 * One error of NVLink of the fifth generation, as far as the driver's line tells it apart from others of its XID.
 *
 * @param xid 144 to 150
 * @param subcodes the part of the link that erred, as drivers before 575 print it and as later ones do; one where both print the
 *     same
 * @param intrInfo the bits of the line's first word that mean this error, in the two orders that drivers have used
 * @param errorStatus the line's second word
 * @param immediate what to do at once
 * @param investigatory what to do afterwards, NVIDIA's words
 */
public record NvLinkError(
        int xid,
        List<String> subcodes,
        List<Bits> intrInfo,
        int errorStatus,
        ImmediateAction immediate,
        String investigatory) {
    /** Copies the lists. */
    public NvLinkError {
        subcodes = List.copyOf(subcodes);
        intrInfo = List.copyOf(intrInfo);
    }

    /**
     * Bits that have to be as they are written.
     *
     * @param mask the bits that count
     * @param value what they have to be
     */
    public record Bits(int mask, int value) {
        private static final int WORD = 32;

        /** From 32 characters, bit 31 first: 0, 1, or - for any. Refuses others with {@link IllegalArgumentException}. */
        static Bits parse(String text) {
            if (!text.matches("[01-]{" + WORD + "}")) {
                throw new IllegalArgumentException(text + " is not 32 times 0, 1 or -");
            }
            return new Bits(
                    Integer.parseUnsignedInt(text.replace('0', '1').replace('-', '0'), 2),
                    Integer.parseUnsignedInt(text.replace('-', '0'), 2));
        }

        boolean match(int word) {
            return (word & mask) == value;
        }

        /** Whether some word is meant by both. */
        boolean overlap(Bits other) {
            return ((value ^ other.value) & mask & other.mask) == 0;
        }
    }

    boolean is(int code, String subcode, int info, int status) {
        return xid == code
                && errorStatus == status
                && subcodes.contains(subcode)
                && intrInfo.stream().anyMatch(bits -> bits.match(info));
    }
}
