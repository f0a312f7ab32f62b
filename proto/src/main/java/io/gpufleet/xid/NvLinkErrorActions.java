package io.gpufleet.xid;

import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Actions for the single errors of XIDs 144 to 150, read from the resource {@code nvlink5.tsv}, which names its source.
 * No line matches two entries with different actions, so that the driver version need not be known.
 */
public final class NvLinkErrorActions {
    private static final int COLUMNS = 7;
    private static final NvLinkErrorActions STANDARD = TsvReader.readResource("nvlink5.tsv", NvLinkErrorActions::read);

    private final List<NvLinkError> all;

    private NvLinkErrorActions(List<NvLinkError> all) {
        this.all = List.copyOf(all);
    }

    /** Returns the table of this release. */
    public static NvLinkErrorActions standard() {
        return STANDARD;
    }

    static NvLinkErrorActions read(Reader text) throws IOException {
        var all = new ArrayList<NvLinkError>();
        TsvReader.read(text, COLUMNS, columns -> all.add(error(columns)));
        return new NvLinkErrorActions(all);
    }

    private static NvLinkError error(String[] columns) {
        return new NvLinkError(
                Integer.parseInt(columns[0]),
                List.of(columns[1].split("/")),
                List.of(NvLinkError.BitPattern.parse(columns[2]), NvLinkError.BitPattern.parse(columns[3])),
                Integer.parseUnsignedInt(columns[4].substring("0x".length()), 16),
                XidImmediateAction.valueOf(columns[5]),
                columns[6]);
    }

    /**
     * Finds the error of a log line of the driver. Empty for an error that is not in the table; it may still be severe.
     *
     * @param xid XID of the line
     * @param subcode text after the XID, for example {@code NETIR_LINK_EVT}
     * @param intrInfo first number in parentheses
     * @param errorStatus second number in parentheses
     */
    public Optional<NvLinkError> find(int xid, String subcode, int intrInfo, int errorStatus) {
        return all.stream()
                .filter(error -> error.matches(xid, subcode, intrInfo, errorStatus))
                .findFirst();
    }

    /** Returns all entries in the order of the table. */
    public List<NvLinkError> all() {
        return all;
    }
}
