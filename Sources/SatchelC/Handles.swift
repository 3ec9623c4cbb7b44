import CSatchel
import Satchel
import Synchronization

/// The objects of one kind that the host refers to by handle. Handles are slot numbers with a generation, not
/// addresses: a freed or invalid handle is detected and never dereferenced.
struct HandleTable<Object: AnyObject & Sendable>: Sendable {
  private let slots: HandleSlots
  private let noun: StaticString

  init(kind: UInt, noun: StaticString) {
    slots = HandleSlots(kind: kind)
    self.noun = noun
  }

  /// Stores an object and returns its new handle.
  func insert(_ object: Object) -> OpaquePointer? { slots.insert(object) }

  /// Returns the object of a handle.
  ///
  /// - Throws: `SatchelError` `.invalid` for NULL, `.closed` for a handle that is not valid
  @inline(__always)
  func borrow(_ handle: OpaquePointer?) throws -> Object {
    guard let object = slots.object(of: handle) else { throw missing(handle) }
    // The table only stores objects of this type.
    return unsafeDowncast(object, to: Object.self)
  }

  /// Removes the object of a handle and returns it; nil when the handle is not valid.
  func remove(_ handle: OpaquePointer?) -> Object? {
    slots.remove(handle).map { unsafeDowncast($0, to: Object.self) }
  }

  /// Returns the error for a handle that has no object.
  func missing(_ handle: OpaquePointer?) -> SatchelError {
    handle == nil
      ? SatchelError(.invalid, "\(noun) is NULL")
      : SatchelError(.closed, "\(noun) is not an open handle: it was closed or never opened")
  }
}

/// The handle tables, one for each kind of object.
enum Handles {
  static let stores = HandleTable<Store>(kind: 1, noun: "store")
  static let observers = HandleTable<ObserverHandle>(kind: 2, noun: "observer")
  static let sessions = HandleTable<Session>(kind: 3, noun: "session")
  static let stories = HandleTable<StoryLibrary>(kind: 4, noun: "stories")
  static let remotes = HandleTable<Remote>(kind: 5, noun: "remote")
  static let photos = HandleTable<PhotoCatalogue>(kind: 6, noun: "photos")
  static let answers = HandleTable<RemoteAnswer>(kind: 7, noun: "answer")
  static let records = HandleTable<RecordCollection>(kind: 8, noun: "records")
  static let recordAnswers = HandleTable<RecordAnswer>(kind: 9, noun: "answer")
  static let openStories = HandleTable<Story>(kind: 10, noun: "story")
  static let interrupts = HandleTable<Interrupt>(kind: 11, noun: "interrupt")
  static let assetReaders = HandleTable<AssetReader>(kind: 12, noun: "reader")
  static let assetWriters = HandleTable<HostAssetWriter>(kind: 13, noun: "writer")
  static let sources = HandleTable<SourceHandle>(kind: 14, noun: "source")
  static let continuousSyncs = HandleTable<ContinuousSync>(kind: 15, noun: "sync")
}

/// A subscription that the host holds: an observation, or a live query.
final class ObserverHandle: Sendable {
  let cancel: @Sendable () -> Void
  /// Nil for other observers.
  let live: LiveQuery?

  init(live: LiveQuery? = nil, cancel: @escaping @Sendable () -> Void) {
    self.live = live
    self.cancel = cancel
  }
}

/// An object store that the host holds.
final class Remote: Sendable {
  let store: any ObjectStore
  init(_ store: any ObjectStore) { self.store = store }
}

/// The context pointer of the host's callbacks; `release` is called once, when the last reference is
// released. Unchecked: the address is only passed back to the host, which is responsible for its thread
// safety.
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

/// The untyped storage of a handle table, compiled once for all kinds of objects.
final class HandleSlots: Sendable {
  typealias Object = AnyObject & Sendable

  private struct Slot {
    var generation: UInt32
    var object: (any Object)?
  }

  private struct Contents {
    var slots: ContiguousArray<Slot> = []
    var free: [UInt32] = []
  }

  private let contents = Mutex(Contents())
  /// The number in the lowest bits of this table's handles.
  private let kind: UInt

  private static var halfWidth: UInt { UInt(UInt.bitWidth / 2) }
  private static var kindBits: UInt { 4 }

  init(kind: UInt) { self.kind = kind }

  func insert(_ object: any Object) -> OpaquePointer? {
    contents.withLock { contents in
      let slot: UInt32
      if let free = contents.free.popLast() {
        slot = free
        contents.slots[Int(slot)].object = object
      } else {
        slot = UInt32(contents.slots.count)
        contents.slots.append(Slot(generation: 1, object: object))
      }
      let generation = UInt(contents.slots[Int(slot)].generation) & (1 << Self.halfWidth - 1)
      return OpaquePointer(bitPattern: generation << Self.halfWidth | UInt(slot) << Self.kindBits | kind)
    }
  }

  // Runs in every call of the host.
  @_optimize(speed)
  func object(of handle: OpaquePointer?) -> (any Object)? {
    contents.withLock { contents in
      guard let slot = index(of: handle, in: contents) else { return nil }
      return contents.slots[slot].object
    }
  }

  func remove(_ handle: OpaquePointer?) -> (any Object)? {
    contents.withLock { contents in
      guard let slot = index(of: handle, in: contents) else { return nil }
      let object = contents.slots[slot].object
      contents.slots[slot].object = nil
      contents.slots[slot].generation &+= 1
      if contents.slots[slot].generation == 0 { contents.slots[slot].generation = 1 }
      contents.free.append(UInt32(slot))
      return object
    }
  }

  @inline(__always)
  private func index(of handle: OpaquePointer?, in contents: borrowing Contents) -> Int? {
    let bits = UInt(bitPattern: handle)
    let mask = 1 << Self.halfWidth - 1 as UInt
    let slot = Int((bits & mask) >> Self.kindBits)
    guard bits & (1 << Self.kindBits - 1) == kind, slot < contents.slots.count,
      contents.slots[slot].object != nil,
      UInt(contents.slots[slot].generation) & mask == bits >> Self.halfWidth
    else { return nil }
    return slot
  }
}

/// Runs the body of an exported function and converts a thrown error to a status and the thread's error
/// message.
@inline(__always)
func guarded(_ body: () throws -> Void) -> satchel_status {
  do {
    try body()
    return SATCHEL_OK
  } catch {
    return failed(error)
  }
}

/// Runs the body of an exported function that returns a buffer: empties the buffer first, and leaves it empty
/// on failure.
@inline(__always)
func guarded(
  emptying out: UnsafeMutablePointer<satchel_buffer>?,
  _ body: (UnsafeMutablePointer<satchel_buffer>) throws -> Void
) -> satchel_status {
  guard let out else { return failed(SatchelError(.invalid, "out is NULL")) }
  out.pointee = satchel_buffer()
  return guarded { try body(out) }
}

/// Runs the body of an exported function and stores its result at `out`; on failure it stores `empty`.
@inline(__always)
func guarded<Result>(
  returning out: UnsafeMutablePointer<Result>?, named name: StaticString = "out", orElse empty: Result,
  _ body: () throws -> Result
) -> satchel_status {
  guard let out else { return failed(SatchelError(.invalid, "\(name) is NULL")) }
  out.pointee = empty
  return guarded { out.pointee = try body() }
}

/// Runs the body of an exported function and stores its number at `out`, unless that is NULL; 0 on failure.
@inline(__always)
func guarded<Number: Numeric>(
  storing out: UnsafeMutablePointer<Number>?, _ body: () throws -> Number
) -> satchel_status {
  out?.pointee = 0
  return guarded {
    let number = try body()
    out?.pointee = number
  }
}

/// Stores the thread's error and returns its status.
@inline(never)
func failed(_ error: any Error) -> satchel_status {
  switch error {
  case let error as SatchelError:
    ThreadError.set(error.message, error.details)
    return satchel_status(rawValue: satchel_status.RawValue(error.code.rawValue))
  case let error as ObjectStoreError:
    return failed(error.satchelError)
  case let error as JSONError:
    return failed(SatchelError(.invalid, "\(error)", underlying: error))
  default:
    return failed(SatchelError(.internal, "\(error)", underlying: error))
  }
}

/// The warnings of each thread's last put.
enum ThreadWarnings {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { free($0) }
    return key
  }()

  /// A JSON array.
  static var json: [UInt8] {
    guard let text = pthread_getspecific(key)?.assumingMemoryBound(to: CChar.self) else {
      return Array("[]".utf8)
    }
    return Array(String(cString: text).utf8)
  }

  static func clear() {
    guard let stored = pthread_getspecific(key) else { return }
    pthread_setspecific(key, nil)
    free(stored)
  }

  static func set(_ warnings: [DocumentWarning]) {
    guard !warnings.isEmpty, let json = try? JSONValue.array(warnings.map(\.json)).text else { return }
    pthread_setspecific(key, strdup(json))
  }
}

/// Message and details of each thread's last failed call.
struct ThreadError {
  private let message: UnsafeMutablePointer<CChar>?
  /// A JSON object; nil when it is empty.
  private let details: UnsafeMutablePointer<CChar>?

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { ThreadError.release($0) }
    return key
  }()

  // Constants of the binary, which are never freed.
  nonisolated(unsafe) private static let noMessage = constant("")
  nonisolated(unsafe) private static let noDetails = constant("{}")

  private static func constant(_ text: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  private static var current: ThreadError? {
    pthread_getspecific(key)?.assumingMemoryBound(to: ThreadError.self).pointee
  }

  static var message: UnsafePointer<CChar> { current?.message.map { UnsafePointer($0) } ?? noMessage }
  static var details: UnsafePointer<CChar> { current?.details.map { UnsafePointer($0) } ?? noDetails }

  static func set(_ message: String, _ details: SatchelError.Details) {
    // The host reads a C string, which a NUL would end early.
    let clean =
      message.utf8.contains(0) ? message.split(separator: "\0").joined(separator: "\u{FFFD}") : message
    let error = UnsafeMutablePointer<ThreadError>.allocate(capacity: 1)
    let json = details.isEmpty ? nil : try? details.json.text
    error.initialize(to: ThreadError(message: strdup(clean), details: json.map { strdup($0) }))
    release(pthread_getspecific(key))
    pthread_setspecific(key, error)
  }

  private static func release(_ stored: UnsafeMutableRawPointer?) {
    guard let stored else { return }
    let error = stored.assumingMemoryBound(to: ThreadError.self)
    free(error.pointee.message)
    free(error.pointee.details)
    error.deallocate()
  }
}
