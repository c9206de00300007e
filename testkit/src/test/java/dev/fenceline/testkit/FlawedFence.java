package dev.fenceline.testkit;

import dev.fenceline.LockName;

/** The contract of a fence over a model with a flaw, which {@link ContractsSeeFlawsTest} chooses and runs. */
final class FlawedFence extends NamedFenceContract {

    static volatile ModelFence.Flaw flaw = ModelFence.Flaw.NONE;

    @Override
    protected FenceDriver resource(LockName resource, String value) {
        return new ModelFence(resource, value, flaw);
    }
}
