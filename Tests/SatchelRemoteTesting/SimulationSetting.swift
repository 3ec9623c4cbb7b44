import SatchelTesting

/// The parameters of a schedule that are common to all subjects.
package struct SimulationSetting: Sendable {
  package var devices: Int
  /// One request in `rarity` has a fault; 0 for no faults.
  package var rarity: Int
  /// Whether other devices may also run between two calls of the ledger.
  package var pausesAtLedger: Bool
  /// Whether the devices are synchronized at the start.
  package var beginsSynced: Bool
  package var steps: Int
  /// Whether equal bytes have equal ETags, as in S3, so that an ETag may recur.
  package var hasContentETags: Bool

  init(drawnFrom random: inout SeededRandom) {
    func below(_ bound: UInt64) -> Int { Int(random.next() % bound) }
    devices = [2, 2, 3, 3, 4][below(5)]
    rarity = [0, 4, 8, 16, 40][below(5)]
    pausesAtLedger = below(3) == 0
    beginsSynced = below(3) > 0
    steps = 20 + below(100)
    hasContentETags = below(2) == 0
  }
}
