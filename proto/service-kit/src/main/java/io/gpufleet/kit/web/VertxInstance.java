package io.gpufleet.kit.web;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;

/** The one {@link Vertx} of a program. */
public final class VertxInstance {
    private VertxInstance() {}

    /** With the threads that Vert.x chooses. */
    public static Vertx open() {
        return open(new VertxOptions());
    }

    /**
     * Without the cache of class path files, which nothing here reads: Vert.x makes a directory for it below
     * {@code /tmp}, so that it would not start on a read-only file system, and leaves it there when it is killed.
     */
    public static Vertx open(VertxOptions options) {
        var noCache =
                new FileSystemOptions().setClassPathResolvingEnabled(false).setFileCachingEnabled(false);
        return Vertx.vertx(options.setFileSystemOptions(noCache));
    }
}
