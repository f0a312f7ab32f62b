package io.gpufleet.inventory.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Base64;
import java.util.Optional;
import java.util.regex.Pattern;

/** The position at which a page ended, as an opaque text for the client; empty text is the beginning. */
public final class PageToken {
    private static final Pattern POSITION = Pattern.compile("[^/]{1,253}(/[^/]{1,253})?");

    private PageToken() {}

    /** The token of a position; empty for none. */
    public static String of(String position) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(position.getBytes(UTF_8));
    }

    /** The position of a token; empty if the token is invalid. */
    public static Optional<String> position(String token) {
        if (token.isEmpty()) {
            return Optional.of("");
        }
        try {
            return Optional.of(new String(Base64.getUrlDecoder().decode(token), UTF_8))
                    .filter(position -> POSITION.matcher(position).matches());
        } catch (IllegalArgumentException notBase64) {
            return Optional.empty();
        }
    }
}
