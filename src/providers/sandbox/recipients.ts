/** The magic recipients (behaviour: test-mode 2), as `sandbox.ts` acts them out: recipient and outcome, for the reference. */

export const recipients: readonly (readonly [string, string])[] = [
  ['+15005550006, and any other', 'sent, delivered'],
  ['+15005550010', 'sent, delivered, read'],
  ['+15005550005', 'sent, and no receipt ever'],
  ['+15005550001', 'failed before it is sent'],
  ['+15005550002', 'sent, then failed'],
  ['+15005550007', 'sent, delivered five seconds later'],
  ['+15005550008', 'sent, delivered, read, then an inbound reply'],
  ['+15005550014', 'receipts out of order'],
  ['+15005550003', '422 policy_violation'],
  ['+15005550004', '422 recipient_blocked'],
  ['+15005550009', '422 upstream_rejected'],
  ['+15005550013', '422 channel_not_connected'],
  ['+15005550011', '402 insufficient_balance'],
  ['+15005550012', '503 upstream_unavailable'],
]
