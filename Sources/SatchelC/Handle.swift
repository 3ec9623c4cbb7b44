import Satchel

/// Objects that the host holds by number. A number that was given back, or never given out, is recognised:
/// it is never followed as an address.
struct HandleTable<Object: AnyObject & Sendable>: Sendable {
  private let slots: HandleSlots
  private let noun: StaticString

  init(kind: UInt, noun: StaticString) {
    slots = HandleSlots(kind: kind)
    self.noun = noun
  }

  /// Takes an object in.
  func give(_ object: Object) -> OpaquePointer? { slots.give(object) }

  /// The object of a handle.
  @inline(__always)
  func borrow(_ handle: OpaquePointer?) throws -> Object {
    guard let object = slots.object(of: handle) else { throw missing(handle) }
    // Only objects of this kind are taken in.
    return unsafeDowncast(object, to: Object.self)
  }

  /// The object of a handle, which is none from now on; nil when it was none.
  func take(_ handle: OpaquePointer?) -> Object? {
    slots.take(handle).map { unsafeDowncast($0, to: Object.self) }
  }

  func missing(_ handle: OpaquePointer?) -> SatchelError {
    handle == nil
      ? SatchelError(.invalid, "\(noun) is NULL")
      : SatchelError(.closed, "\(noun) was closed, or never was one")
  }
}

enum Handles {
  static let stores = HandleTable<Satchel>(kind: 1, noun: "store")
  static let observers = HandleTable<ObserverHandle>(kind: 2, noun: "observer")
  static let sessions = HandleTable<Session>(kind: 3, noun: "session")
  static let stories = HandleTable<StoryLibrary>(kind: 4, noun: "stories")
  static let remotes = HandleTable<Remote>(kind: 5, noun: "remote")
  static let photos = HandleTable<PhotoCatalogue>(kind: 6, noun: "photos")
  static let answers = HandleTable<RemoteAnswer>(kind: 7, noun: "answer")
  static let records = HandleTable<RecordCollection>(kind: 8, noun: "records")
  static let recordAnswers = HandleTable<RecordAnswer>(kind: 9, noun: "answer")
}

final class ObserverHandle: Sendable {
  let observation: Satchel.Observation
  init(_ observation: Satchel.Observation) { self.observation = observation }
}

/// An object store that the host holds.
final class Remote: Sendable {
  let store: any ObjectStore
  init(_ store: any ObjectStore) { self.store = store }
}

/// What the host wants handed to its callbacks; its `release` is called once, when nothing refers to it any more.
// Unchecked: the address is only ever handed back to the host, which answers for what it means.
final class HostContext: @unchecked Sendable {
  let address: UnsafeMutableRawPointer?
  private let release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

  init(_ address: UnsafeMutableRawPointer?, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?) {
    self.address = address
    self.release = release
  }

  deinit {
    if let release { HostWork.calling("a release function") { release(address) } }
  }
}
