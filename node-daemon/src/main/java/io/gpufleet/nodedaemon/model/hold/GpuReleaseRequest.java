package io.gpufleet.nodedaemon.model.hold;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A request on the node to release the GPUs: by an installer, before a reset, or by an operator.
 *
 * @param reason as the requester wrote it
 * @param deadline when the GPUs are reacquired even if the request still exists
 * @param writtenAt time of writing; a later time is another request
 * @param warning the part of the request that could not be parsed; empty when none
 */
public record GpuReleaseRequest(String reason, Instant deadline, Instant writtenAt, String warning) {
    /** How long a request without a valid deadline holds. */
    public static final Duration DEFAULT_DURATION = Duration.ofMinutes(30);

    /** Longer reasons are truncated. */
    private static final int REASON_LENGTH = 200;

    private static final Pattern LINE = Pattern.compile("\\s*(reason|deadline)\\s*[:=]\\s*(.*?)\\s*");
    private static final Pattern LENGTH = Pattern.compile("(\\d{1,6})\\s*(s|m|h)");

    /**
     * Parses the lines {@code reason: …} and {@code deadline: …}, in any order; other lines are ignored. The deadline is an
     * instant (RFC 3339) or a duration from the time of writing, such as {@code 20m}. No text is refused: a request that cannot
     * be parsed holds for the default duration.
     */
    public static GpuReleaseRequest parse(String text, Instant written) {
        String reason = "";
        String deadline = "";
        for (String line : text.split("\\R", -1)) {
            Matcher results = LINE.matcher(line);
            if (results.matches() && results.group(1).equals("reason")) {
                reason = results.group(2);
            } else if (results.matches()) {
                deadline = results.group(2);
            }
        }
        return parse(reason, deadline, written);
    }

    private static GpuReleaseRequest parse(String reason, String deadline, Instant written) {
        String why = reason.isEmpty()
                ? "no reason given"
                : reason.substring(0, Math.min(reason.length(), REASON_LENGTH)).replaceAll("\\p{Cntrl}", " ");
        if (deadline.isEmpty()) {
            return new GpuReleaseRequest(why, written.plus(DEFAULT_DURATION), written, "");
        }
        try {
            return new GpuReleaseRequest(why, instant(deadline, written), written, "");
        } catch (DateTimeException neither) {
            return new GpuReleaseRequest(
                    why,
                    written.plus(DEFAULT_DURATION),
                    written,
                    "deadline is neither an instant such as 2026-11-21T20:00:00Z nor a duration such as 20m; "
                            + DEFAULT_DURATION.toMinutes() + "m are used");
        }
    }

    private static Instant instant(String deadline, Instant written) {
        Matcher length = LENGTH.matcher(deadline.toLowerCase(Locale.ROOT));
        return length.matches()
                ? written.plus(Duration.parse("PT" + length.group(1) + length.group(2)))
                : Instant.parse(deadline);
    }

    /** Makes a request of which only the time of writing could be read. */
    public static GpuReleaseRequest unreadable(Instant written, String why) {
        return new GpuReleaseRequest("no reason given", written.plus(DEFAULT_DURATION), written, why);
    }
}
