import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

import SatchelState

@Suite("State against a model")
struct StateModelTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  @Test("8 threads at random during timed saves read their own writes, and so does the next handle")
  func threads() throws {
    let store = try fixture.open(nil, StateOptions(saveDelay: 1, maxPending: 3, maxDelay: 5)) {
      $0.busyTimeout = 5000
    }
    try store.state.setKey(StateFixture.key)
    for number in 0..<8 { try StateModel.makeSensitive(store.state, "\(number) ") }
    let models = Locked<[StateModel]>(Array(repeating: StateModel(), count: 8))
    try stateThreads(8) { number in
      var (model, dice) = (StateModel(), SeededRandom(seed: UInt64(number)))
      for step in 0..<150 {
        try model.step(store.state, "\(number) ", &dice)
        if step % 10 == 0 { #expect(try StateModel(store.state, "\(number) ").tidy == model.tidy) }
        if step % 37 == 0 { try store.state.flush() }
      }
      #expect(try StateModel(store.state, "\(number) ").tidy == model.tidy)
      let end = model
      models.withLock { $0[number] = end }
    }
    try store.database.close()
    let later = try fixture.open()
    try later.state.setKey(StateFixture.key)
    for (number, model) in models.withLock({ $0 }).enumerated() {
      #expect(try StateModel(later.state, "\(number) ").tidy == model.tidy)
    }
  }

  @Test(
    "changes can be read at any time: saved, spooled, after closing, and by another handle", arguments: 0..<6)
  func moments(seed: Int) throws {
    var (model, dice) = (StateModel(), SeededRandom(seed: UInt64(seed) << 32))
    func opened() throws -> StateFixture.Opened {
      let store = try fixture.open(nil, StateFixture.never) { $0.busyTimeout = 0 }
      try store.state.setKey(StateFixture.key)
      return store
    }
    var store = try opened()
    try StateModel.makeSensitive(store.state, "")
    var blocker: Database?
    for _ in 0..<300 {
      switch Int.random(in: 0..<60, using: &dice) {
      case 0...4: #expect(try store.state.flush() != (blocker != nil && fixture.isSpooled))
      case 5:
        try store.database.close()
        store = try opened()
      case 6 where blocker == nil: blocker = try fixture.block()
      case 7, 8:
        try blocker?.rollback()
        blocker = nil
      default: try model.step(store.state, "", &dice)
      }
      #expect(try StateModel(store.state, "").tidy == model.tidy)
    }
    try blocker?.rollback()
    try store.database.close()
    let last = try opened()
    #expect(try StateModel(last.state, "").tidy == model.tidy)
    #expect(!fixture.isSpooled)
    #expect(try StateStore.check(last.database).isEmpty)
    #expect(try last.outbox.rejected(in: last.database).isEmpty)
  }
}
