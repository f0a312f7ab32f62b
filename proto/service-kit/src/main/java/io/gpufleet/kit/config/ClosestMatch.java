package io.gpufleet.kit.config;

import java.util.Collection;
import java.util.Comparator;

/** Suggests the closest known name for a mistyped one. */
public final class ClosestMatch {
    private ClosestMatch() {}

    /** Returns the candidate with the smallest edit distance; {@code none at all} when there are no candidates. */
    public static String of(String name, Collection<String> candidates) {
        return candidates.stream()
                .min(Comparator.comparingInt(candidate -> distance(name, candidate)))
                .orElse("none at all");
    }

    /** Computes the Levenshtein distance. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(substituted, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
