import CFaultyVFS
import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

import SatchelState

@Suite("State on a faulty disk")
struct StateDiskTests {
  /// The operation that fails: the n-th of a kind, or all from the n-th on.
  struct Fault: Sendable, CustomTestStringConvertible {
    var operation: faulty_operation
    var kind: faulty_kind
    var isForGood: Bool
    var at: Int64

    var testDescription: String {
      "operation \(operation.rawValue), kind \(kind.rawValue), \(isForGood ? "for good" : "once"), at \(at)"
    }
  }

  static let faults: [Fault] = {
    let places: [Int64] = [1, 2, 3, 4, 5, 6, 8, 11, 15, 20]
    var faults: [Fault] = []
    for (operation, kind) in [
      (FAULTY_WRITE, FAULTY_FULL), (FAULTY_WRITE, FAULTY_IO), (FAULTY_SYNC, FAULTY_IO),
    ] {
      for isForGood in [false, true] {
        faults += places.map { Fault(operation: operation, kind: kind, isForGood: isForGood, at: $0) }
      }
    }
    return faults
  }()

  @Test(
    "no change is lost or applied twice whichever operation fails, and a spooled change is reported",
    arguments: faults)
  func bad(fault: Fault) throws {
    let name = "state disk \(fault.testDescription) \(UInt64.random(in: .min ... .max))"
    let disk = try #require(faulty_vfs_make(name))
    let fixture = try StateFixture()
    var model = StateModel()
    var dice = SeededRandom(seed: UInt64(fault.at))
    func open() throws -> StateFixture.Opened {
      let store = try fixture.open(nil, StateFixture.never) {
        $0.vfsName = name
        $0.durability = .full
      }
      try store.state.setKey(StateFixture.key)
      return store
    }
    func change(_ state: StateStore) throws {
      for _ in 0..<8 { try model.step(state, "", &dice) }
    }
    let store = try open()
    let observed = StateObserved()
    let subscription = try store.database.observe { observed.add($0) }
    try change(store.state)
    try store.state.flush()
    faulty_vfs_fail(disk, fault.operation, fault.at, fault.kind, fault.isForGood)
    for _ in 0..<4 {
      try change(store.state)
      let isSpooled = try !store.state.flush()
      #expect(!isSpooled || fixture.isSpooled && observed.keys.contains("@spooled"))
      #expect(try StateModel(store.state, "").tidy == model.tidy)
    }
    #expect(fault.at > 4 || faulty_vfs_hits(disk) > 0)
    faulty_vfs_fail(disk, fault.operation, 0, fault.kind, false)
    try change(store.state)
    #expect(try store.state.flush())
    #expect(!fixture.isSpooled)
    #expect(observed.keys.contains("@spooled") == observed.keys.contains("@drained"))
    #expect(try StateModel(store.state, "").tidy == model.tidy)
    subscription.cancel()
    try store.database.close()
    let later = try open()
    #expect(try StateModel(later.state, "").tidy == model.tidy)
    #expect(try later.outbox.rejected(in: later.database).isEmpty)
  }
}
