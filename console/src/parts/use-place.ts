/** The account and mode of the screen, from its address. */
import { useParams } from '@tanstack/react-router'
import type { Mode, Place } from '../paths.ts'

export function usePlace(): Place {
  const { account, mode } = useParams({ strict: false }) as { account?: string; mode?: Mode }
  if (account === undefined || mode === undefined) throw new Error('this part stands in a screen of an account')
  return { account, mode }
}
