package io.gpufleet.catalogue;

import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What single errors of XIDs 144 to 150 ask for, read from a resource beside this class, which names its source. The two
 * orders of bits never contradict each other, so nobody has to know which driver printed a line.
 */
public final class NvLinkErrors {
    private static final int COLUMNS = 7;
    private static final NvLinkErrors STANDARD = Rows.resource("nvlink5.tsv", NvLinkErrors::read);

    private final List<NvLinkError> all;

    private NvLinkErrors(List<NvLinkError> all) {
        this.all = List.copyOf(all);
    }

    /** The table that comes with this version. */
    public static NvLinkErrors standard() {
        return STANDARD;
    }

    static NvLinkErrors read(Reader text) throws IOException {
        var all = new ArrayList<NvLinkError>();
        Rows.read(text, COLUMNS, columns -> all.add(error(columns)));
        return new NvLinkErrors(all);
    }

    private static NvLinkError error(String[] columns) {
        return new NvLinkError(
                Integer.parseInt(columns[0]),
                List.of(columns[1].split("/")),
                List.of(NvLinkError.Bits.parse(columns[2]), NvLinkError.Bits.parse(columns[3])),
                Integer.parseUnsignedInt(columns[4].substring("0x".length()), 16),
                ImmediateAction.valueOf(columns[5]),
                columns[6]);
    }

    /**
     * The error that a line of the driver tells of; empty for one that is not in the table, which is no proof of harmlessness.
     *
     * @param xid code of the line
     * @param subcode the word behind the code, for example {@code NETIR_LINK_EVT}
     * @param intrInfo the first word in parentheses
     * @param errorStatus the second one
     */
    public Optional<NvLinkError> find(int xid, String subcode, int intrInfo, int errorStatus) {
        return all.stream()
                .filter(error -> error.is(xid, subcode, intrInfo, errorStatus))
                .findFirst();
    }

    /** Every error of the table, in its order. */
    public List<NvLinkError> all() {
        return all;
    }
}
