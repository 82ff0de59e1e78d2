/** The providers that are built: one line each. */
import type { Clock } from '../../lib/clock.ts'
import type { Adapter } from './adapter.ts'
import { sandbox } from './providers/sandbox.ts'
import { simulator } from './providers/simulator.ts'

const adaptersOn = (clock: Clock): readonly Adapter[] => [sandbox, simulator(clock)]

export interface Registry {
  /** The adapter of a provider, or undefined for one that is not built. */
  adapterOf(provider: string): Adapter | undefined
  /** Providers that a channel may be connected with. The simulator is offered only where the operator's settings allow it. */
  connectable(type: string, simulatorAllowed: boolean): readonly Adapter[]
}

export function providerRegistry(clock: Clock): Registry {
  const adapters = adaptersOn(clock)
  const byName = new Map(adapters.map((adapter) => [adapter.provider, adapter]))
  return {
    adapterOf: (provider) => byName.get(provider),
    connectable: (type, simulatorAllowed) =>
      adapters.filter(
        ({ provider, types }) => provider !== 'sandbox' && (provider !== 'simulator' || simulatorAllowed) && (types as readonly string[]).includes(type),
      ),
  }
}
