package io.gpufleet.inventory.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Base64;
import java.util.Optional;
import java.util.regex.Pattern;

/** Where a page ended, as the opaque text that a client hands back; empty text is the beginning. */
public final class PageToken {
    private static final Pattern PLACE = Pattern.compile("[^/]{1,253}(/\\d{1,9})?");

    private PageToken() {}

    /** The token of a place; empty for none. */
    public static String of(String place) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(place.getBytes(UTF_8));
    }

    /** The place of a token; empty when it is not one of ours. */
    public static Optional<String> place(String token) {
        if (token.isEmpty()) {
            return Optional.of("");
        }
        try {
            return Optional.of(new String(Base64.getUrlDecoder().decode(token), UTF_8))
                    .filter(place -> PLACE.matcher(place).matches());
        } catch (IllegalArgumentException notBase64) {
            return Optional.empty();
        }
    }
}
