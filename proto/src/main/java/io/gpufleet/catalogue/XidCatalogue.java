package io.gpufleet.catalogue;

import java.io.IOException;
import java.io.Reader;
import java.util.Collection;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** XIDs by code, read from a resource beside this class, which names its source. */
public final class XidCatalogue {
    private static final int COLUMNS = 5;
    private static final XidCatalogue STANDARD = Rows.resource("xid.tsv", XidCatalogue::read);

    private final SortedMap<Integer, Xid> entries;

    private XidCatalogue(SortedMap<Integer, Xid> entries) {
        this.entries = Collections.unmodifiableSortedMap(entries);
    }

    /** The catalogue that comes with this version. */
    public static XidCatalogue standard() {
        return STANDARD;
    }

    static XidCatalogue read(Reader text) throws IOException {
        SortedMap<Integer, Xid> entries = new TreeMap<>();
        Rows.read(text, COLUMNS, columns -> {
            Xid xid = xid(columns);
            if (entries.put(xid.code(), xid) != null) {
                throw new IllegalArgumentException("XID " + xid.code() + " stands twice");
            }
        });
        return new XidCatalogue(entries);
    }

    private static Xid xid(String[] columns) {
        return new Xid(
                Integer.parseInt(columns[0]), columns[1], columns[4], ImmediateAction.valueOf(columns[2]), columns[3]);
    }

    /** The entry of a code; empty for a code newer than the catalogue, which is no proof of harmlessness. */
    public Optional<Xid> find(int code) {
        return Optional.ofNullable(entries.get(code));
    }

    /** All entries by code. */
    public Collection<Xid> all() {
        return entries.values();
    }
}
