import SatchelCore
import Testing

@testable import SatchelState

struct StateScoreTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  static let bounds: [(ClosedRange<Double>, Double)] = [(-1...1, 0), (2...5, 2), (-5 ... -3, -3)]

  @Test("a score that nothing was added to is 0 or the nearest bound", arguments: bounds, [false, true])
  func nothing(bounds: (ClosedRange<Double>, Double), isSaved: Bool) throws {
    let store = try fixture.open()
    let scores = try store.state.scores("levels", bounds: bounds.0)
    let value = try scores.add("x", 4)
    if isSaved { try store.state.flush() }
    #expect(try scores.value("x") == value)
    try scores.remove("x")
    try scores.remove("never added")
    if isSaved { try store.state.flush() }
    #expect(try scores.value("x") == bounds.1)
    #expect(try scores.all().isEmpty)
    #expect(try scores.add("x", 0) == bounds.1)
  }

  @Test("what is added to a score counts from the nearest bound", arguments: bounds, [false, true])
  func firstAddition(bounds: (ClosedRange<Double>, Double), isSaved: Bool) throws {
    let store = try fixture.open()
    let scores = try store.state.scores("levels", bounds: bounds.0)
    let gain = bounds.1 == bounds.0.upperBound ? -0.5 : 0.5
    #expect(try scores.add("x", gain) == bounds.1 + gain)
    if isSaved { try store.state.flush() }
    #expect(try scores.value("x") == bounds.1 + gain)
    // A handle adds to what it reads.
    let narrow = try store.state.scores("levels", bounds: 100...200)
    #expect(try narrow.add("x", 1) == 101)
  }

  @Test("a flush returns whether the changes are in the store", arguments: [false, true])
  func flush(isBlocked: Bool) throws {
    let store = try fixture.open()
    try store.state.scores("levels").add("x", 0.5)
    let blocker = isBlocked ? try fixture.block() : nil
    #expect(try store.state.flush() != isBlocked)
    #expect(fixture.isSpooled == isBlocked)
    try blocker?.rollback()
  }
}
