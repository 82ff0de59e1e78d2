/** Whether somebody follows what becomes of messages while this checkout is compared: nobody, a follower of other messages, or one of the very messages that are measured. */

export const followedKinds = ['none', 'other', 'messages'] as const
export type Followed = (typeof followedKinds)[number]

/** What the service process is told. */
export const followedEnv = (followed: Followed): Readonly<Record<string, string>> => (followed === 'none' ? {} : { POSTHORN_TEST_FOLLOWED: followed })
