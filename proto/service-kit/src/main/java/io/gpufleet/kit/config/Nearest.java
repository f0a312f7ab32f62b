package io.gpufleet.kit.config;

import java.util.Collection;
import java.util.Comparator;

/** What somebody probably meant who wrote a word that is none. */
public final class Nearest {
    private Nearest() {}

    /** The word with the fewest letters to change; {@code none at all} where there are no words. */
    public static String to(String word, Collection<String> words) {
        return words.stream()
                .min(Comparator.comparingInt(candidate -> distance(word, candidate)))
                .orElse("none at all");
    }

    /** Levenshtein's distance. */
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
