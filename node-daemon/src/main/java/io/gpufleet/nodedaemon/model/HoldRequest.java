package io.gpufleet.nodedaemon.model;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Somebody on the node asks for the GPUs: an installer, a reset, an operator.
 *
 * @param reason why, in the asker's words
 * @param deadline when the GPUs are taken back even if nobody says so
 * @param written when it was asked; asking again is another request
 * @param complaint what of the request could not be understood; empty where all was
 */
public record HoldRequest(String reason, Instant deadline, Instant written, String complaint) {
    /** How long a request holds that names no deadline that can be read. */
    public static final Duration USUAL = Duration.ofMinutes(30);

    /** More of a reason is not repeated. */
    private static final int REASON_LENGTH = 200;

    private static final Pattern LINE = Pattern.compile("\\s*(reason|deadline)\\s*[:=]\\s*(.*?)\\s*");
    private static final Pattern LENGTH = Pattern.compile("(\\d{1,6})\\s*(s|m|h)");

    /**
     * Understands the lines {@code reason: …} and {@code deadline: …}, in any order, other lines left alone. The deadline
     * is an instant (RFC 3339) or a length from the writing on, such as {@code 20m}. No text is refused: a request that
     * can not be understood holds for the usual time.
     */
    public static HoldRequest read(String text, Instant written) {
        String reason = "";
        String deadline = "";
        for (String line : text.split("\\R", -1)) {
            Matcher words = LINE.matcher(line);
            if (words.matches() && words.group(1).equals("reason")) {
                reason = words.group(2);
            } else if (words.matches()) {
                deadline = words.group(2);
            }
        }
        return read(reason, deadline, written);
    }

    private static HoldRequest read(String reason, String deadline, Instant written) {
        String why = reason.isEmpty()
                ? "no reason given"
                : reason.substring(0, Math.min(reason.length(), REASON_LENGTH)).replaceAll("\\p{Cntrl}", " ");
        if (deadline.isEmpty()) {
            return new HoldRequest(why, written.plus(USUAL), written, "");
        }
        try {
            return new HoldRequest(why, instant(deadline, written), written, "");
        } catch (DateTimeException neither) {
            return new HoldRequest(
                    why,
                    written.plus(USUAL),
                    written,
                    "deadline is neither an instant such as 2026-11-21T20:00:00Z nor a length such as 20m; "
                            + USUAL.toMinutes() + "m are taken");
        }
    }

    private static Instant instant(String deadline, Instant written) {
        Matcher length = LENGTH.matcher(deadline.toLowerCase(Locale.ROOT));
        return length.matches()
                ? written.plus(Duration.parse("PT" + length.group(1) + length.group(2)))
                : Instant.parse(deadline);
    }

    /** A request of which only the time of writing could be read. */
    public static HoldRequest unreadable(Instant written, String why) {
        return new HoldRequest("no reason given", written.plus(USUAL), written, why);
    }
}
