import CSatchel
import Satchel

// Getters for hosts without a JSON library of their own.

@_cdecl("satchel_json_get_text") @implementation
public func satchel_json_get_text(
  _ value: satchel_bytes, _ path: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let (found, path) = try member(value, path)
    guard case .string(let text) = found else { throw mismatch(found, path, "a string") }
    try give(Array(text.utf8), to: out)
  }
}

@_cdecl("satchel_json_get_int64") @implementation
public func satchel_json_get_int64(
  _ value: satchel_bytes, _ path: satchel_bytes, _ out: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(returning: out, orElse: 0) {
    let (found, path) = try member(value, path)
    guard case .int(let number) = found else { throw mismatch(found, path, "an integer") }
    return number
  }
}

@_cdecl("satchel_json_get_double") @implementation
public func satchel_json_get_double(
  _ value: satchel_bytes, _ path: satchel_bytes, _ out: UnsafeMutablePointer<Double>!
) -> satchel_status {
  guarded(returning: out, orElse: 0) {
    let (found, path) = try member(value, path)
    switch found {
    case .double(let number): return number
    case .int(let number): return Double(number)
    default: throw mismatch(found, path, "a number")
    }
  }
}

@_cdecl("satchel_json_get_bool") @implementation
public func satchel_json_get_bool(
  _ value: satchel_bytes, _ path: satchel_bytes, _ out: UnsafeMutablePointer<Bool>!
) -> satchel_status {
  guarded(returning: out, orElse: false) {
    let (found, path) = try member(value, path)
    guard case .bool(let flag) = found else { throw mismatch(found, path, "a Boolean") }
    return flag
  }
}

@_cdecl("satchel_json_count") @implementation
public func satchel_json_count(
  _ value: satchel_bytes, _ path: satchel_bytes, _ out: UnsafeMutablePointer<Int>!
) -> satchel_status {
  guarded(returning: out, orElse: 0) {
    let (found, path) = try member(value, path)
    switch found {
    case .array(let elements): return elements.count
    case .object(let members): return members.count
    default: throw mismatch(found, path, "an array or an object")
    }
  }
}

@_cdecl("satchel_json_keys") @implementation
public func satchel_json_keys(
  _ value: satchel_bytes, _ path: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let (found, path) = try member(value, path)
    guard case .object(let members) = found else { throw mismatch(found, path, "an object") }
    try give(.array(members.map { .string($0.key) }), to: out)
  }
}

@_cdecl("satchel_json_each") @implementation
public func satchel_json_each(
  _ value: satchel_bytes, _ path: satchel_bytes, _ callback: satchel_json_callback!,
  _ context: UnsafeMutableRawPointer!
) -> satchel_status {
  guarded {
    guard let callback else { throw SatchelError(.invalid, "callback is NULL") }
    let (found, path) = try member(value, path)
    /// Returns whether to go on.
    func call(_ key: [UInt8]?, _ value: JSONValue) throws -> Bool {
      try lend(value.serialized()) { value in
        guard let key else { return callback(context, satchel_bytes(), value) }
        return lend(key) { callback(context, $0, value) }
      }
    }
    switch found {
    case .array(let elements):
      for element in elements { guard try call(nil, element) else { return } }
    case .object(let members):
      for (key, value) in members { guard try call(Array(key.utf8), value) else { return } }
    default: throw mismatch(found, path, "an array or an object")
    }
  }
}

@_cdecl("satchel_json_quote") @implementation
public func satchel_json_quote(
  _ text: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in try give(.string(text.text("text")), to: out) }
}

/// The value at a path.
///
/// - Throws: `.notFound` when the path leads to nothing, or to null
private func member(_ value: satchel_bytes, _ path: satchel_bytes) throws -> (JSONValue, String) {
  let (value, path) = (try value.json("value"), try path.text("path"))
  let found = try naming("path") { try value.value(at: JSONPath(path)) }
  guard let found, !found.isNull else {
    throw SatchelError(.notFound, "path: there is no value at \"\(path.prefix(200))\"")
  }
  return (found, path)
}

private func mismatch(_ found: JSONValue, _ path: String, _ expected: String) -> SatchelError {
  SatchelError(.invalid, "path: the value at \"\(path.prefix(200))\" is \(found.kind), not \(expected)")
}
