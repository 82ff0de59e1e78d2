/** A screen of an account as its area declares it: where it stands, what shows it, and what one must be allowed to see it. */
import type { ComponentType } from 'react'
import type { Grant } from '../api/may.ts'
import type { text } from '../text/en.ts'

export interface ScreenRoute {
  /** Below the account and mode, as the router writes it: `messages/$id`. */
  readonly path: string
  /** Absent: every member may. */
  readonly needs?: Grant
  /** Loaded when it is shown: `async () => (await import('./message-screen.tsx')).MessageScreen`. */
  readonly load: () => Promise<ComponentType>
  /** In the menu under this name. */
  readonly menu?: keyof typeof text.screens
}
