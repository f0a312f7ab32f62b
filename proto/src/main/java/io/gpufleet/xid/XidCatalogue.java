package io.gpufleet.xid;

import java.io.IOException;
import java.io.Reader;
import java.util.Collection;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** XIDs by code, read from the resource {@code xid.tsv}, which names its source. */
public final class XidCatalogue {
    private static final int COLUMNS = 5;
    private static final XidCatalogue STANDARD = TsvReader.readResource("xid.tsv", XidCatalogue::read);

    private final SortedMap<Integer, Xid> entries;

    private XidCatalogue(SortedMap<Integer, Xid> entries) {
        this.entries = Collections.unmodifiableSortedMap(entries);
    }

    /** Returns the catalogue of this release. */
    public static XidCatalogue standard() {
        return STANDARD;
    }

    static XidCatalogue read(Reader text) throws IOException {
        SortedMap<Integer, Xid> entries = new TreeMap<>();
        TsvReader.read(text, COLUMNS, columns -> {
            Xid xid = xid(columns);
            if (entries.put(xid.code(), xid) != null) {
                throw new IllegalArgumentException("duplicate XID " + xid.code());
            }
        });
        return new XidCatalogue(entries);
    }

    private static Xid xid(String[] columns) {
        return new Xid(
                Integer.parseInt(columns[0]),
                columns[1],
                columns[4],
                XidImmediateAction.valueOf(columns[2]),
                columns[3]);
    }

    /** Finds the entry of a code. Empty for a code newer than the catalogue; it may still be severe. */
    public Optional<Xid> find(int code) {
        return Optional.ofNullable(entries.get(code));
    }

    /** Returns all entries in the order of their codes. */
    public Collection<Xid> all() {
        return entries.values();
    }
}
