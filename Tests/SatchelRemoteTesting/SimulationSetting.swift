import SatchelTesting

/// What a schedule is made of, whatever its devices keep.
package struct SimulationSetting: Sendable {
  package var devices: Int
  /// A request in so many meets a fault; 0 for none.
  package var rarity: Int
  /// Whether other devices may come in between two calls of the ledger, too.
  package var pausesAtLedger: Bool
  /// Whether the devices agree on something before it begins.
  package var beginsInAgreement: Bool
  package var steps: Int
  /// As in S3: equal bytes have equal tags, so that a tag may come back.
  package var tagsAreOfContent: Bool

  init(drawnFrom random: inout SeededRandom) {
    func below(_ bound: UInt64) -> Int { Int(random.next() % bound) }
    devices = [2, 2, 3, 3, 4][below(5)]
    rarity = [0, 4, 8, 16, 40][below(5)]
    pausesAtLedger = below(3) == 0
    beginsInAgreement = below(3) > 0
    steps = 20 + below(100)
    tagsAreOfContent = below(2) == 0
  }
}
