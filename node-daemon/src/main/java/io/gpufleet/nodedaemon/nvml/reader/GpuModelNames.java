package io.gpufleet.nodedaemon.nvml.reader;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Short model names and families. A short name is what is left of the product name without brand (NVIDIA, Tesla, Quadro,
 * GeForce, GRID), build (SXM4, PCIe, NVL, OEM), memory (80GB, HBM3, 144G), edition words and what follows "MIG", joined
 * by dashes: "NVIDIA A100-SXM4-40GB" is A100, "NVIDIA RTX A6000" is RTX-A6000. There is no list of models, so newer boards get
 * a name too.
 */
final class GpuModelNames {
    private static final Pattern SEPARATOR = Pattern.compile("[\\s\\-]+");
    private static final Pattern BEFORE_MIG = Pattern.compile("\\s+MIG\\s.*$");
    private static final Pattern PARENTHESES = Pattern.compile("\\([^)]*\\)");
    private static final Pattern NOISE = Pattern.compile(
            "nvidia|tesla|quadro|geforce|grid"
                    + "|sxm\\d?|pcie|nvl|oem|ac"
                    + "|\\d+gb?|hbm\\d?e?"
                    + "|gpu|generation|server|workstation|edition|max|q",
            Pattern.CASE_INSENSITIVE);
    private static final Pattern ILLEGAL = Pattern.compile("[^A-Za-z0-9_.]");

    private GpuModelNames() {}

    /** The short name; the whole name without illegal characters where nothing would be left. */
    static String shortName(String product) {
        String plain = PARENTHESES
                .matcher(BEFORE_MIG.matcher(product).replaceFirst(""))
                .replaceAll("");
        String name = joined(plain, true);
        return name.isEmpty() ? joined(product, false) : name;
    }

    private static String joined(String text, boolean withoutNoise) {
        return Arrays.stream(SEPARATOR.split(text))
                .filter(word -> !withoutNoise || !NOISE.matcher(word).matches())
                .map(word -> ILLEGAL.matcher(word).replaceAll(""))
                .filter(word -> !word.isEmpty())
                .collect(Collectors.joining("-"));
    }

    /** The family by CUDA compute capability, named as NVIDIA's GPU feature discovery names it. */
    static String family(int major, int minor) {
        return switch (major) {
            case 1 -> "tesla";
            case 2 -> "fermi";
            case 3 -> "kepler";
            case 5 -> "maxwell";
            case 6 -> "pascal";
            case 7 -> minor < 5 ? "volta" : "turing";
            case 8 -> minor < 9 ? "ampere" : "ada-lovelace";
            case 9 -> "hopper";
            case 10, 11, 12 -> "blackwell";
            case 13 -> "rubin";
            default -> "undefined";
        };
    }

    /** {@code major.minor}. */
    static String capability(int major, int minor) {
        return String.format(Locale.ROOT, "%d.%d", major, minor);
    }
}
