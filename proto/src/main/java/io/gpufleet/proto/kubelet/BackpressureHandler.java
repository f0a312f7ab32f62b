package io.gpufleet.proto.kubelet;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first handler of a connection: reads nothing more from a peer that does not read what it was sent, and closes a
 * connection that fails. The channel must not read by itself: Netty's HTTP/2 codec asks for the next read in any case.
 */
final class BackpressureHandler extends ChannelDuplexHandler {
    private static final Logger LOG = LoggerFactory.getLogger(BackpressureHandler.class);

    private boolean readWanted;

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.fireChannelActive();
        read(context);
    }

    @Override
    public void read(ChannelHandlerContext context) {
        readWanted = !context.channel().isWritable();
        if (!readWanted) {
            context.read();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        context.fireChannelWritabilityChanged();
        if (readWanted) {
            read(context);
        }
    }

    /** No warning: a kubelet or a debugger that ends with something unread resets its connection. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable failed) {
        LOG.atDebug().setCause(failed).log("connection closed");
        context.close();
    }
}
