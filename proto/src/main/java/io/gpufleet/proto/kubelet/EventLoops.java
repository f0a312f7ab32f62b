package io.gpufleet.proto.kubelet;

import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import java.util.concurrent.ThreadFactory;

/** Event loops of one thread each, for sockets, timers and the state that belongs to them. */
public final class EventLoops {
    private EventLoops() {}

    /** Makes an event loop; its thread begins with the first task, and keeps the process running until it is shut down. */
    public static EventLoop open(String threadName) {
        ThreadFactory threads =
                task -> Thread.ofPlatform().name(threadName).daemon(false).unstarted(task);
        return new SingleThreadIoEventLoop(null, threads, NioIoHandler.newFactory());
    }
}
