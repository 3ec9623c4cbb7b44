import CSatchel
import Satchel

extension HostCalls {
  /// Wraps the host's functions, which respond through handles.
  init(_ operations: UnsafePointer<satchel_remote_operations>?, _ host: HostContext) throws {
    let reader = try OptionsReader(operations)
    func function<Function>(
      _ field: KeyPath<satchel_remote_operations, Function?>, _ name: String
    ) throws -> Function {
      guard let function = reader.value(field) ?? nil else {
        throw SatchelError(.invalid, "operations: \(name) is NULL")
      }
      return function
    }
    // By the header's contract the host's functions may be called on any thread.
    nonisolated(unsafe) let get = try function(\.get, "get")
    nonisolated(unsafe) let put = try function(\.put, "put")
    nonisolated(unsafe) let head = try function(\.head, "head")
    nonisolated(unsafe) let remove = try function(\.remove, "remove")
    nonisolated(unsafe) let list = try function(\.list, "list")
    self.init(
      get: { key, known, limit, _ in
        try lend(key, known) { name, known in
          RemoteResult(about: key, limit: limit) { get(host.address, name, known, $0) }
        }.reading()
      },
      put: { key, body, condition, metadata, _ in
        let metadata = try JSONValue.object(JSONObject(metadata.map { ($0, .string($1)) })).serialized()
        return try lend(key, condition.etag) { name, known in
          lend(body, metadata) { body, metadata in
            RemoteResult(about: key, isWrite: true) {
              put(host.address, name, body, known, condition == .ifAbsent, metadata, $0)
            }
          }
        }.etag()
      },
      head: { key, _ in
        try lend(key, nil) { name, _ in RemoteResult(about: key) { head(host.address, name, $0) } }.head()
      },
      delete: { key, known, _ in
        try lend(key, known) { name, known in
          RemoteResult(about: key, isWrite: true) { remove(host.address, name, known, $0) }
        }.check()
      },
      list: { prefix, after, limit, _ in
        try lend(prefix, after) { prefix, after in
          RemoteResult(about: "the listing") {
            list(host.address, prefix, after, Int32(clamping: limit), $0)
          }
        }.page()
      },
      transfers: try HostTransfers(reader, host))
  }
}

extension HostTransfers {
  /// Wraps the optional functions; nil when none is set.
  fileprivate init?(_ reader: OptionsReader<satchel_remote_operations>, _ host: HostContext) throws {
    let getRange = reader.value(\.get_range) ?? nil
    let putPart = reader.value(\.put_part) ?? nil
    let complete = reader.value(\.complete) ?? nil
    if getRange == nil, putPart == nil, complete == nil { return nil }
    guard let getRange, let putPart, let complete else {
      throw SatchelError(
        .invalid, "operations: get_range, put_part and complete are set together, or not at all")
    }
    self.init(
      getRange: { key, offset, count, known, _ in
        try lend(key, known) { name, known in
          RemoteResult(about: key, limit: count) {
            getRange(host.address, name, offset, count, known, $0)
          }
        }.range()
      },
      putPart: { key, upload, number, body, _ in
        try lend(key, upload) { name, upload in
          lend(body, []) { body, _ in
            RemoteResult(about: key, isWrite: true) {
              putPart(host.address, name, upload, Int32(clamping: number), body, $0)
            }
          }
        }.check()
      },
      complete: { key, upload, parts, condition, metadata, _ in
        let metadata = try JSONValue.object(JSONObject(metadata.map { ($0, .string($1)) })).serialized()
        let result = lend(Array(key.utf8), Array(upload.utf8)) { name, upload in
          lend(Array((condition.etag ?? "").utf8), metadata) { known, metadata in
            RemoteResult(about: key, isWrite: true) {
              complete(
                host.address, name, upload, Int32(clamping: parts), known, condition == .ifAbsent, metadata,
                $0)
            }
          }
        }
        guard parts > 0 else {
          try result.check()
          return ""
        }
        return try result.etag()
      })
  }
}

extension ObjectCondition {
  fileprivate var etag: String? {
    if case .ifMatch(let etag) = self { etag.text } else { nil }
  }
}

private func lend<Result>(
  _ first: [UInt8], _ second: [UInt8], to body: (satchel_bytes, satchel_bytes) -> Result
) -> Result {
  first.withUnsafeBytes { first in
    second.withUnsafeBytes { second in
      body(
        satchel_bytes(data: first.baseAddress, size: first.count),
        satchel_bytes(data: second.baseAddress, size: second.count))
    }
  }
}

/// Passes two strings; nil is passed as empty bytes.
private func lend<Result>(
  _ first: String, _ second: String?, to body: (satchel_bytes, satchel_bytes) -> Result
) -> Result {
  lend(Array(first.utf8), Array((second ?? "").utf8), to: body)
}
