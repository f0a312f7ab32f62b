package io.gpufleet.runtime.kubernetes;

import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.URI;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Counts the requests of a client by method and resource, repeated ones and watches included. */
public final class RequestCounts implements Interceptor {
    private static final String METRIC = "gpufleet_kubernetes_requests";
    private static final String OTHER = "other";
    /** Resource and subresource of a path of the Kubernetes API. */
    private static final Pattern PATH = Pattern.compile(
            ".*/(?:api|apis/[^/]+)/v[^/]+/(?:namespaces/[^/]+/)?(?<resource>[^/]+)(?:/[^/]+(?:/(?<sub>[^/]+))?)?/?");

    private final ConcurrentMap<Kind, LongAdder> counts = new ConcurrentHashMap<>();
    private @Nullable MeterRegistry registry;

    private record Kind(String method, String resource) {}

    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        var kind = new Kind(request.method(), resource(request.uri()));
        LongAdder count = counts.get(kind);
        (count == null ? first(kind) : count).increment();
    }

    /** The resource of a request with its subresource, as in RBAC rules: {@code nodes/status}. */
    static String resource(URI request) {
        Matcher path = PATH.matcher(request.getPath());
        if (!path.matches()) {
            return OTHER;
        }
        String sub = path.group("sub");
        return sub == null ? path.group("resource") : path.group("resource") + "/" + sub;
    }

    private synchronized LongAdder first(Kind kind) {
        return counts.computeIfAbsent(kind, _ -> {
            var count = new LongAdder();
            if (registry != null) {
                register(registry, kind, count);
            }
            return count;
        });
    }

    /** Shows the counts, those of before as well. */
    public synchronized void register(MeterRegistry metrics) {
        registry = metrics;
        counts.forEach((kind, count) -> register(metrics, kind, count));
    }

    private static void register(MeterRegistry metrics, Kind kind, LongAdder count) {
        FunctionCounter.builder(METRIC, count, LongAdder::doubleValue)
                .description("requests to the Kubernetes API by method and resource")
                .tags("method", kind.method(), "resource", kind.resource())
                .register(metrics);
    }
}
