package io.gpufleet.health.model.maintenance;

/**
 * Text of an operator, which is printed on terminals and pages: one line, without control characters and without those that
 * turn the direction of the text.
 */
public final class OperatorText {
    private static final int MAX_LENGTH = 512;
    private static final int ZERO_WIDTH_NON_JOINER = 0x200C;
    private static final int ZERO_WIDTH_JOINER = 0x200D;

    private OperatorText() {}

    /** True for a text of 1 to 512 characters that may be printed as it is. */
    public static boolean isPrintable(String text) {
        return !text.isBlank()
                && text.length() <= MAX_LENGTH
                && text.codePoints().allMatch(OperatorText::isPrintable);
    }

    /** The text with a blank for each character that must not be printed, cut to 512 characters. */
    public static String printable(String text) {
        var kept = new StringBuilder();
        text.codePoints()
                .limit(MAX_LENGTH)
                .map(character -> isPrintable(character) ? character : ' ')
                .forEach(kept::appendCodePoint);
        return kept.toString().strip();
    }

    private static boolean isPrintable(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SURROGATE ->
                false;
            case Character.FORMAT -> character == ZERO_WIDTH_NON_JOINER || character == ZERO_WIDTH_JOINER;
            default -> true;
        };
    }
}
