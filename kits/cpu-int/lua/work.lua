-- Work for the interpreter: sieving, sorting, strings, closures, tables as objects, a puzzle.
-- Usage: lua work.lua INPUT OUTPUT      INPUT is one line: ROUNDS SEED
-- Writes one line for each kind of work; whole numbers and strings only, so the lines are the same
-- whatever compiled the interpreter.
local rounds, seed = io.open(arg[1]):read("n", "n")
local out = assert(io.open(arg[2], "w"))
local function print(...) out:write(table.concat({ ... }, " "), "\n") end

-- Lehmer's generator with the parameters of Park and Miller; products stay below 2^53.
local state = seed % 2147483646 + 1
local function below(n)
  state = state * 48271 % 2147483647
  return state % n
end

local function sieve(n)
  local composite, count = {}, 0
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return count
end

local function queens(n)
  local solutions = 0
  local columns, up, down = {}, {}, {}
  local function place(row)
    if row > n then
      solutions = solutions + 1
      return
    end
    for c = 1, n do
      if not (columns[c] or up[row + c] or down[row - c + n]) then
        columns[c], up[row + c], down[row - c + n] = true, true, true
        place(row + 1)
        columns[c], up[row + c], down[row - c + n] = nil, nil, nil
      end
    end
  end
  place(1)
  return solutions
end

local function sorting(n)
  local items = {}
  for i = 1, n do items[i] = { key = below(1000000), name = "item" .. i } end
  table.sort(items, function(a, b)
    if a.key ~= b.key then return a.key < b.key end
    return a.name < b.name
  end)
  local sum = 0
  for i = 1, n do sum = (sum * 31 + items[i].key + #items[i].name) % 1000000007 end
  return sum
end

local function words(n)
  local parts = {}
  for i = 1, n do
    local letters = {}
    for j = 1, 3 + below(6) do letters[j] = string.char(97 + below(26)) end
    parts[i] = table.concat(letters)
  end
  local text = table.concat(parts, " ")
  local counts, distinct = {}, 0
  for word in text:gmatch("%a+") do
    if not counts[word] then distinct = distinct + 1 end
    counts[word] = (counts[word] or 0) + 1
  end
  local swapped = text:gsub("(%a)(%a)", "%2%1")
  local hash = 0
  for i = 1, #swapped, 7 do hash = (hash * 33 + swapped:byte(i)) % 4294967296 end
  return distinct, hash
end

local Account = {}
Account.__index = Account
function Account.new(balance) return setmetatable({ balance = balance, log = {} }, Account) end
function Account:move(to, amount)
  if self.balance < amount then return false end
  self.balance = self.balance - amount
  to.balance = to.balance + amount
  self.log[#self.log + 1] = amount
  return true
end

local function accounts(n)
  local all, refused = {}, 0
  for i = 1, 1000 do all[i] = Account.new(below(10000)) end
  for _ = 1, n do
    local from, to = all[1 + below(1000)], all[1 + below(1000)]
    if not from:move(to, below(3000)) then refused = refused + 1 end
  end
  local total, moves = 0, 0
  for i = 1, 1000 do
    total = total + all[i].balance
    moves = moves + #all[i].log
  end
  return total, moves, refused
end

local function generators(n)
  local function count_to(limit)
    return coroutine.wrap(function()
      for i = 1, limit do coroutine.yield(i) end
    end)
  end
  local sum = 0
  for value in count_to(n) do sum = (sum + value * value) % 1000003 end
  return sum
end

for round = 1, rounds do
  print(round, "sieve", sieve(200000 + below(1000)))
  print(round, "queens", queens(8))
  print(round, "sorting", sorting(20000))
  print(round, "words", words(20000))
  print(round, "accounts", accounts(200000))
  print(round, "generators", generators(150000))
end
assert(out:close())
