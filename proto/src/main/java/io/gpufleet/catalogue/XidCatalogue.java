package io.gpufleet.catalogue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Collections;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** XIDs by code, read from a resource beside this class, which names its source. */
public final class XidCatalogue {
    private static final int COLUMNS = 5;
    private static final XidCatalogue STANDARD = load();

    private final SortedMap<Integer, Xid> entries;

    private XidCatalogue(SortedMap<Integer, Xid> entries) {
        this.entries = Collections.unmodifiableSortedMap(entries);
    }

    /** The catalogue that comes with this version. */
    public static XidCatalogue standard() {
        return STANDARD;
    }

    /** Reads lines of five tab-separated columns; a line that starts with # is skipped, a bad one refused by number. */
    static XidCatalogue read(Reader text) throws IOException {
        SortedMap<Integer, Xid> entries = new TreeMap<>();
        BufferedReader lines = new BufferedReader(text);
        int number = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            number++;
            if (!line.isBlank() && !line.startsWith("#")) {
                Xid xid = parse(line, number);
                if (entries.put(xid.code(), xid) != null) {
                    throw new IllegalArgumentException("line " + number + ": XID " + xid.code() + " stands twice");
                }
            }
        }
        return new XidCatalogue(entries);
    }

    private static Xid parse(String line, int number) {
        String[] columns = line.split("\t", -1);
        if (columns.length != COLUMNS) {
            throw new IllegalArgumentException(
                    "line " + number + ": " + columns.length + " columns, " + COLUMNS + " are wanted");
        }
        try {
            return new Xid(
                    Integer.parseInt(columns[0]),
                    columns[1],
                    columns[4],
                    ImmediateAction.valueOf(columns[2]),
                    columns[3]);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
        }
    }

    private static XidCatalogue load() {
        try (Reader text = new InputStreamReader(
                Objects.requireNonNull(XidCatalogue.class.getResourceAsStream("xid.tsv"), "xid.tsv"),
                StandardCharsets.UTF_8)) {
            return read(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
