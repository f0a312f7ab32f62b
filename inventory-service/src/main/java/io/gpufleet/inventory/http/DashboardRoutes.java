package io.gpufleet.inventory.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Optional;

/**
 * The page at {@code /}, its script and its style sheet. They hold no data: the script reads {@code /v1/…} with the token of
 * whoever looks at the page.
 */
public final class DashboardRoutes {
    /** Nothing but this page's own files is loaded or run, and no other page can frame it. */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            + "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private DashboardRoutes() {}

    /** Mounts the three routes. */
    public static void mount(Router router) {
        serve(router, "/", "dashboard.html", "text/html; charset=utf-8");
        serve(router, "/dashboard.js", "dashboard.js", "text/javascript; charset=utf-8");
        serve(router, "/dashboard.css", "dashboard.css", "text/css; charset=utf-8");
    }

    private static void serve(Router router, String path, String file, String type) {
        Buffer content = read(file);
        router.get(path)
                .handler(context -> context.response()
                        .putHeader("content-type", type)
                        .putHeader("content-security-policy", POLICY)
                        .putHeader("x-content-type-options", "nosniff")
                        .putHeader("referrer-policy", "no-referrer")
                        // A new release has a new page under the same names.
                        .putHeader("cache-control", "no-cache")
                        .end(content));
    }

    private static Buffer read(String file) {
        try (InputStream resource = DashboardRoutes.class.getResourceAsStream("/dashboard/" + file)) {
            return Buffer.buffer(Optional.ofNullable(resource).orElseThrow().readAllBytes());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
