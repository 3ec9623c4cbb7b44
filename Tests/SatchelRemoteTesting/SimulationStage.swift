import SatchelTesting

/// The remote, the random numbers and the history of a schedule.
// Unchecked: only the thread whose turn it is accesses it.
package final class SimulationStage: @unchecked Sendable {
  package let setting: SimulationSetting
  package var remote: SimulatedRemote
  /// The number of edits, which makes every edit unique.
  package var edits = 0
  /// Whether faults occur.
  package internal(set) var isFaulty = false
  /// Whether a write may take effect after its sender has abandoned it.
  package var allowsLateWrites = true
  private(set) var violation: SimulationViolation?
  private(set) var history: [String]?
  private var random: SeededRandom
  private var late: [(sender: ObjectIdentifier, put: () -> Void)] = []

  /// - Parameter adapt: changes the setting that was drawn from the seed
  package init(
    seed: UInt64, isLogging: Bool, adapting adapt: (inout SimulationSetting) -> Void = { _ in }
  ) {
    random = SeededRandom(seed: seed)
    var setting = SimulationSetting(drawnFrom: &random)
    adapt(&setting)
    self.setting = setting
    remote = SimulatedRemote(hasContentETags: setting.hasContentETags)
    history = isLogging ? [] : nil
  }

  package func note(_ line: @autoclosure () -> String) { history?.append(line()) }

  /// Records a violation; only the first one is kept.
  package func fail(_ error: any Error) {
    violation = violation ?? error as? SimulationViolation ?? SimulationViolation(description: "\(error)")
  }

  func check() throws { if let violation { throw violation } }

  // MARK: Random numbers

  /// Returns a random number from 0 to below `bound`.
  package func chance(_ bound: Int) -> Int { Int(random.next() % UInt64(max(bound, 1))) }

  /// Returns a random element; nil if there are no elements.
  package func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[chance(elements.count)]
  }

  func drawFault() -> SimulationFault? {
    guard isFaulty, chance(setting.rarity) == 0 else { return nil }
    let fault = pick(SimulationFault.allCases)
    return fault == .timeoutLater && !allowsLateWrites ? .timeoutBefore : fault
  }

  func drawCrash() -> Bool { isFaulty && chance(setting.rarity * 8) == 0 }

  // MARK: Late writes

  func delay(_ sender: AnyObject, _ put: @escaping () -> Void) {
    late.append((ObjectIdentifier(sender), put))
  }

  /// May execute a late write.
  func deliver() { if !late.isEmpty, chance(6) == 0 { late.remove(at: chance(late.count)).put() } }

  /// Executes or drops each late write of a device.
  func deliverOrDrop(_ sender: AnyObject) {
    let sender = ObjectIdentifier(sender)
    for write in late where write.sender == sender && chance(2) == 0 { write.put() }
    late.removeAll { $0.sender == sender }
  }
}
