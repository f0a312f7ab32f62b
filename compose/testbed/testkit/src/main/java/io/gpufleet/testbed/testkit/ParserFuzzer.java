package io.gpufleet.testbed.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/**
 * Texts that a parser may meet where somebody means ill or a disk has failed: samples with parts changed, taken out,
 * repeated or replaced. A text follows from its seed and the samples. Half of the texts are of the kept seeds, the same
 * in each run, half of seeds that each run draws anew. A failure names its seed; {@code -Dgpufleet.fuzz.seed=SEED}
 * hands out the text of this seed alone.
 */
public final class ParserFuzzer {
    /** Property with the one seed of a run. */
    static final String SEED = "gpufleet.fuzz.seed";

    private static final int MAX_CHANGES = 4;
    /** Texts that parsers of YAML, JSON and numbers read wrong. */
    private static final List<String> PIECES = List.of(
            "null",
            "{}",
            "[]",
            "\"\"",
            "-1",
            "0",
            "1e309",
            "99999999999999999999",
            "\u0000",
            "\n",
            "\t",
            ":",
            ",",
            "\"",
            "'",
            "*a",
            "&a ",
            "<<: *a",
            "!!java.net.URL x",
            "%s",
            "\\",
            "\ud83d",
            "\u202e",
            "[".repeat(3_000),
            "{\"a\":".repeat(3_000),
            "9".repeat(3_000),
            "- ");

    private ParserFuzzer() {}

    /**
     * Hands changed texts to a parser, after the samples themselves; what it throws, but for exceptions of a type that is
     * allowed, fails with the seed and the text that led there.
     */
    public static void check(
            int count, List<String> samples, List<Class<? extends Exception>> allowed, Consumer<byte[]> parser) {
        checkBytes(count, samples.stream().map(sample -> sample.getBytes(UTF_8)).toList(), allowed, parser);
    }

    /** Hands changed bytes to a parser, as {@link #check} does with texts. */
    public static void checkBytes(
            int count, List<byte[]> samples, List<Class<? extends Exception>> allowed, Consumer<byte[]> parser) {
        samples.forEach(sample -> check("sample", sample, allowed, parser));
        seeds(count)
                .forEach(seed ->
                        check("-D" + SEED + "=" + seed, text(samples, new SplittableRandom(seed)), allowed, parser));
    }

    /** The one seed that is asked for; else kept seeds, to which one that finds a defect is appended, and fresh ones. */
    private static LongStream seeds(int count) {
        Long wanted = Long.getLong(SEED);
        if (wanted != null) {
            return LongStream.of(wanted);
        }
        long fresh = new SplittableRandom().nextLong(Long.MAX_VALUE - count);
        return LongStream.concat(LongStream.range(0, count / 2), LongStream.range(fresh, fresh + count - count / 2));
    }

    private static byte[] text(List<byte[]> samples, SplittableRandom random) {
        byte[] text = samples.get(random.nextInt(samples.size()));
        for (int change = random.nextInt(MAX_CHANGES); change >= 0; change--) {
            text = changed(text, random);
        }
        return text;
    }

    private static void check(
            String origin, byte[] text, List<Class<? extends Exception>> allowed, Consumer<byte[]> parser) {
        try {
            parser.accept(text);
        } catch (RuntimeException | StackOverflowError thrown) {
            if (allowed.stream().noneMatch(type -> type.isInstance(thrown))) {
                throw new AssertionError("a parser throws (" + origin + ") at: " + new String(text, UTF_8), thrown);
            }
        }
    }

    private static byte[] changed(byte[] text, SplittableRandom random) {
        int from = random.nextInt(text.length + 1);
        int to = Math.min(text.length, from + random.nextInt(12));
        return switch (random.nextInt(6)) {
            case 0 -> joined(text, from, new byte[] {(byte) random.nextInt(256)}, Math.min(text.length, from + 1));
            case 1 -> joined(text, from, new byte[0], to);
            case 2 -> joined(text, to, Arrays.copyOfRange(text, from, to), to);
            case 3 -> joined(text, from, piece(random), to);
            case 4 -> joined(text, valueStart(text, from), piece(random), valueEnd(text, from));
            default -> joined(text, from, piece(random), from);
        };
    }

    /** Begin of the first value of JSON or YAML from a place on. */
    private static int valueStart(byte[] text, int from) {
        int start = from;
        while (start < text.length && text[start] != ':' && text[start] != '=') {
            start++;
        }
        return Math.min(text.length, start + 1);
    }

    /** Its end: that of an object or a list, or the place before the next delimiter. */
    private static int valueEnd(byte[] text, int from) {
        int depth = 0;
        int end = valueStart(text, from);
        for (; end < text.length; end++) {
            switch (text[end]) {
                case '{', '[' -> depth++;
                case '}', ']' -> depth--;
                case ',', '\n' -> {
                    if (depth == 0) {
                        return end;
                    }
                }
                default -> {
                    // Part of the value.
                }
            }
            if (depth < 0) {
                return end;
            }
        }
        return end;
    }

    private static byte[] piece(SplittableRandom random) {
        return PIECES.get(random.nextInt(PIECES.size())).getBytes(UTF_8);
    }

    /** The text with another part between two places. */
    private static byte[] joined(byte[] text, int from, byte[] part, int to) {
        var joined = new byte[from + part.length + text.length - to];
        System.arraycopy(text, 0, joined, 0, from);
        System.arraycopy(part, 0, joined, from, part.length);
        System.arraycopy(text, to, joined, from + part.length, text.length - to);
        return joined;
    }
}
