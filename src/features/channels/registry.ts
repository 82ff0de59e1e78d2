/** The providers that are built: one line each. */
import type { Adapter } from './adapter.ts'
import { sandbox } from './providers/sandbox.ts'
import { simulator } from './providers/simulator.ts'

const adapters: readonly Adapter[] = [sandbox, simulator]

const byName = new Map(adapters.map((adapter) => [adapter.provider, adapter]))

/** The adapter of a provider, or undefined for one that is not built. */
export const adapterOf = (provider: string): Adapter | undefined => byName.get(provider)

/** Providers that a channel may be connected with. The simulator is offered only where the operator's settings allow it. */
export const connectable = (type: string, simulatorAllowed: boolean): readonly Adapter[] =>
  adapters.filter((adapter) => adapter !== sandbox && (adapter !== simulator || simulatorAllowed) && (adapter.types as readonly string[]).includes(type))
