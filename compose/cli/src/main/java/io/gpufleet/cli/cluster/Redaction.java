package io.gpufleet.cli.cluster;

import java.util.List;
import java.util.regex.Pattern;

/** Takes out of a text what nobody else may read: keys, tokens and passwords by their form or by the name before them. */
final class Redaction {
    static final String REPLACEMENT = "<redacted>";

    private record Rule(Pattern pattern, String replacement) {}

    private static final List<Rule> RULES = List.of(
            rule("(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\\z)", REPLACEMENT),
            // The name of a setting, then its value; of JAAS the rest of the line.
            rule("(?i)(jaas[\\w.-]*[\"']?\\s*[:=]).*", "$1 " + REPLACEMENT),
            rule(
                    "(?i)(?<![\\w.-])([\\w.-]*(?:password|passwd|secret|token|credential|api[_.-]?key|private[_.-]?key)[\\w.-]*[\"']?"
                            + "\\s*[:=]\\s*)(?:\"[^\"]*\"|'[^']*'|[^\\s,}]+)",
                    "$1" + REPLACEMENT),
            rule("(?i)(bearer|basic) +[\\w.~+/=-]{8,}", "$1 " + REPLACEMENT),
            rule("eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*", REPLACEMENT),
            // The last part of the webhook's path shows that the API server calls.
            rule("(/admit/)[\\w.-]+", "$1" + REPLACEMENT),
            rule("(\\w://)[^/@\\s]+@", "$1" + REPLACEMENT + "@"));

    private Redaction() {}

    private static Rule rule(String pattern, String replacement) {
        return new Rule(Pattern.compile(pattern), replacement);
    }

    /** The text without them. */
    static String of(String text) {
        String redacted = text;
        for (Rule rule : RULES) {
            redacted = rule.pattern().matcher(redacted).replaceAll(rule.replacement());
        }
        return redacted;
    }
}
