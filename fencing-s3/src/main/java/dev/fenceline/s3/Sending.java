package dev.fenceline.s3;

import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * Notes that the client has begun to send a request. What fails before that has certainly not been sent, whatever it failed with; what fails
 * after that may have been.
 */
final class Sending implements ExecutionInterceptor {

    private volatile boolean begun;

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes executionAttributes) {
        begun = true;
    }

    boolean hasBegun() {
        return begun;
    }
}
