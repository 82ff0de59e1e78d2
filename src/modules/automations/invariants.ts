/** What `posthorn doctor` proves of integrations. */
import type { Invariant, Platform } from '../../platform/platform.ts'
import { redactionInvariants } from './receivers/redaction.ts'
import { runInvariants } from './runs/invariants.ts'

export const integrationInvariants = (platform: Pick<Platform, 'clock'>): readonly Invariant[] => [
  ...runInvariants,
  ...redactionInvariants(platform),
]
