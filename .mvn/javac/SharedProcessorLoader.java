import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The class loader of javac's plugins (Error Prone, NullAway), one for all compilations of a Maven run. By itself javac
 * makes a new one for each of the 26 compilations, which loads the same 3,300 classes again and has them compiled again.
 *
 * <p>For javac's option {@code -XDprocloader}, with this class on Maven's boot class path: see {@code gpufleet}.
 */
public final class SharedProcessorLoader extends ClassLoader {
    private static final Map<List<String>, ClassLoader> LOADERS = new ConcurrentHashMap<>();

    /** A view of the loader of these jars, which is never closed. */
    public SharedProcessorLoader(URL[] jars, ClassLoader parent) {
        super(LOADERS.computeIfAbsent(
                Stream.of(jars).map(URL::toString).toList(), _ -> new URLClassLoader(jars, parent)));
    }
}
